import type { MeteredRequest } from '../../../shared/metadata/billing/request-meter.ts';
import type { RequestRecord } from '../../../shared/ports/telemetry.ts';
import { requestClassOf } from '../../../shared/protocol/request-classes.ts';

/**
 * Returns how a request is charged, and to which project; undefined if it is free. Refused requests are free, as strangers could
 * cause them, and so are failed ones.
 */
export function chargeOf({ payer, operation, status, bytesIn, bytesOut }: RequestRecord): MeteredRequest | undefined {
  if (payer === undefined || status === 403 || status >= 500) return undefined;
  return { project: payer, class: requestClassOf(operation), bytesIn, bytesOut };
}
