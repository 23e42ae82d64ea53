import { EdgeProof } from '../../../../functions/runtime/cloud/origin-secret.ts';
import { SetClock } from '../../../support/fixed-deps.ts';

/** Knows a distribution whose secret has this value and never had another. */
export const edgeWith = (secret: string): EdgeProof =>
  new EdgeProof({ secret, read: async () => [secret], clock: new SetClock(), telemetry: { problem: () => undefined } });
