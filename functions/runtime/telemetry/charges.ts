import type { MeteredRequest } from '../../../shared/metadata/billing/request-meter.ts';
import type { RequestRecord } from '../../../shared/ports/telemetry.ts';
import { requestClassOf } from '../../../shared/protocol/request-classes.ts';

/**
 * What a request is charged as, and to whom; undefined if it costs nobody anything. Nobody pays for what was refused, which strangers
 * could bring about, nor for what failed.
 */
export function chargeOf({ payer, operation, status, bytesIn, bytesOut }: RequestRecord): MeteredRequest | undefined {
  if (payer === undefined || status === 403 || status >= 500) return undefined;
  return { project: payer, class: requestClassOf(operation), bytesIn, bytesOut };
}
