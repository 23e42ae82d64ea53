import { OriginSecret } from '../../../../functions/runtime/cloud/origin-secret.ts';
import { SetClock } from '../../../support/fixed-deps.ts';

/** Knows a distribution whose secret has this value and never had another. */
export const edgeWith = (secret: string): OriginSecret =>
  new OriginSecret({
    secret,
    read: async () => [secret],
    clock: new SetClock(),
    telemetry: { problem: () => undefined },
  });
