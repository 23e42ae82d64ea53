import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';

/**
 * The effect of a failed call.
 * - `refused`: it had no effect, because of load or of a race with another transaction, and may be retried.
 * - `lost`: it cannot be determined whether it had an effect: a time-out, a broken connection, an error of the engine.
 * - `final`: it had no effect and never will: wrong parameters, missing permissions, no credentials.
 */
export type CallFailure = 'refused' | 'lost' | 'final';

const refusals = new Set([
  'ThrottlingException',
  'ThrottlingError',
  'Throttling',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  // Of S3, with the status 400: the bytes of the request came too slowly.
  'RequestTimeout',
  'TransactionConflictException',
  'TransactionInProgressException',
  'ReplicatedWriteConflictException',
]);

/** The cancellation reasons of a transaction that may be retried. `None` is for items that were not at fault. */
const passingReasons = new Set(['None', 'TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/** Failures before anything was sent. */
const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Classifies an error of `send`. Failed conditions are not failures: the caller has handled them before. */
export function callFailure(error: unknown): CallFailure {
  if (!(error instanceof Error)) return 'final';
  if (error instanceof TransactionCanceledException) {
    const codes = (error.CancellationReasons ?? []).map((reason) => reason.Code ?? 'None');
    return codes.length > 0 && codes.every((code) => passingReasons.has(code)) ? 'refused' : 'final';
  }
  const { code, $metadata } = error as { code?: unknown; $metadata?: { httpStatusCode?: number } };
  if (refusals.has(error.name)) return 'refused';
  if (typeof code === 'string' && neverSent.has(code)) return 'refused';
  if (error.name === 'CredentialsProviderError' || error.name === 'TokenProviderError') return 'final';
  const status = $metadata?.httpStatusCode;
  // Without a status, no complete response arrived. An unknown failure counts as lost, which is never
  // wrong.
  return status === undefined || status < 400 || status >= 500 ? 'lost' : 'final';
}
