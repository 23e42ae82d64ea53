import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';

/**
 * What the failure of a call says about it.
 * - `refused`: it did nothing, for load or for a race with another transaction, and may be sent again.
 * - `lost`: nobody can tell whether it did anything: a time-out, a broken connection, an error of the engine.
 * - `final`: it did nothing and never will: wrong parameters, missing rights, no credentials.
 */
export type CallFailure = 'refused' | 'lost' | 'final';

const refusals = new Set([
  'ThrottlingException',
  'ThrottlingError',
  'Throttling',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'TransactionConflictException',
  'TransactionInProgressException',
  'ReplicatedWriteConflictException',
]);

/** Reasons of a cancelled transaction under which it is worth sending again. `None` is the item that was not at fault. */
const passingReasons = new Set(['None', 'TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/** Failures before anything left this machine. */
const neverSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Judges what `send` threw. Failed conditions are not failures: the caller has dealt with them before. */
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
  // Without a status no whole answer came. What cannot be named counts as lost: the one reading that is never wrong.
  return status === undefined || status < 400 || status >= 500 ? 'lost' : 'final';
}
