import { OriginSecret } from '../../../../functions/cloud/origin-secret.ts';
import { SetClock } from '../../../support/storage/fixed-deps.ts';

/** Accepts only a distribution with this secret, which has no previous value. */
export const edgeWith = (secret: string): OriginSecret =>
  new OriginSecret({
    secret,
    read: async () => [secret],
    clock: new SetClock(),
    telemetry: { problem: () => undefined },
  });
