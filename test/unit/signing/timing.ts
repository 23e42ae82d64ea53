import { defaultLimits } from '../../../shared/protocol/limits.ts';
import type { Timing } from '../../../shared/signing/claim.ts';

/** How signatures are judged at a moment where nothing else was set. */
export function timingAt(now: number): Timing {
  return { now, allowedSkew: defaultLimits.clockSkew, longestLifetime: defaultLimits.presignedLifetime };
}
