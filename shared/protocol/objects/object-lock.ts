import type { Question } from '../../access/authorise.ts';
import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import { formatIsoSecond, parseIsoDate } from '../../http/fields/dates.ts';
import type { Fields } from '../../http/message.ts';
import { noObjectLock, type Bucket } from '../../storage/buckets/bucket.ts';
import {
  latestRetention,
  retentionModes,
  secondOf,
  type LegalHold,
  type ObjectLock,
  type Override,
  type Retention,
} from '../../storage/versions/object-lock.ts';
import type { Context } from '../operation.ts';
import type { Place } from './questions.ts';

const modeField = 'x-amz-object-lock-mode';
const dateField = 'x-amz-object-lock-retain-until-date';
const holdField = 'x-amz-object-lock-legal-hold';
const bypassField = 'x-amz-bypass-governance-retention';

/** Reads the headers, or form fields, of an upload that lock the object. @throws S3Error InvalidArgument */
export function readLockHeaders(fields: Fields): ObjectLock {
  return { retention: readRetention(fields), legalHold: readHold(fields.get(holdField)) };
}

function readRetention(fields: Fields): Retention | undefined {
  const [mode, date] = [fields.get(modeField), fields.get(dateField)];
  if (mode === undefined && date === undefined) return undefined;
  if (mode === undefined || date === undefined) {
    const [missing, value] = mode === undefined ? [modeField, ''] : [dateField, ''];
    throw invalidArgument(missing, value, `${dateField} and ${modeField} must both be supplied`);
  }
  const known = retentionModes.find((one) => one === mode);
  if (known === undefined) throw invalidArgument(modeField, mode, 'Unknown wormMode directive.');
  const until = parseIsoDate(date);
  if (until === undefined || secondOf(until) > latestRetention) {
    throw invalidArgument(dateField, date, 'The retain until date must be provided in ISO 8601 format');
  }
  return { mode: known, until: secondOf(until) };
}

function readHold(hold: string | undefined): LegalHold | undefined {
  if (hold === undefined || hold === 'ON' || hold === 'OFF') return hold;
  throw invalidArgument(holdField, hold, "Legal Hold must be either of 'ON' or 'OFF'");
}

/**
 * Checks that an upload may be locked.
 * @throws S3Error InvalidRequest (the bucket has no object lock), InvalidArgument (the period is over)
 */
export function checkLock({ retention, legalHold }: ObjectLock, { objectLock }: Bucket, now: number): void {
  if (retention === undefined && legalHold === undefined) return;
  if (objectLock === undefined) throw noObjectLock('Bucket is missing ObjectLockConfiguration');
  if (retention) checkIsFuture(retention, now);
}

/** @throws S3Error InvalidArgument */
export function checkIsFuture({ until }: Retention, now: number): void {
  if (until > secondOf(now)) return;
  throw invalidArgument(dateField, formatIsoSecond(until), 'The retain until date must be in the future!');
}

const checksum = /^x-amz-checksum-(?!algorithm$|type$|mode$)/;

/** Requires that an upload that locks its object brings a digest of the bytes. @throws S3Error InvalidRequest */
export function checkDigestIsGiven({ retention, legalHold }: ObjectLock, fields: Fields): void {
  if (retention === undefined && legalHold === undefined) return;
  if (fields.has('content-md5') || checksum.test(fields.get('x-amz-trailer')?.trim().toLowerCase() ?? '')) return;
  if ([...fields.names()].some((name) => checksum.test(name))) return;
  throw new S3Error('InvalidRequest', {
    message:
      'Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters',
  });
}

/** Returns what a request asks to override. To be authorised by {@link overrideQuestions}. */
export function readOverride(fields: Fields): Override {
  return fields.get(bypassField)?.toLowerCase() === 'true' ? 'governance' : 'nothing';
}

/** Returns the question whether the caller may override what the request asks to. */
export function overrideQuestions(override: Override, { bucket, key, versionId }: Place): readonly Question[] {
  if (override === 'nothing') return [];
  return [{ action: 'BypassGovernanceRetention', bucket, key, ...(versionId !== undefined && { versionId }) }];
}

/** Returns the part of a version's lock that the caller may see. */
export async function visibleLock(
  { retention, legalHold }: ObjectLock,
  place: Place,
  context: Pick<Context<'object', 'none'>, 'authoriseLook'>,
): Promise<ObjectLock> {
  const maySee = async (action: 'GetObjectRetention' | 'GetObjectLegalHold'): Promise<boolean> => {
    const { bucket, key, versionId } = place;
    const question = { action, bucket, key, ...(versionId !== undefined && { versionId }) };
    return context.authoriseLook(question).then(() => true, ifDenied);
  };
  return {
    retention: retention && (await maySee('GetObjectRetention')) ? retention : undefined,
    legalHold: legalHold && (await maySee('GetObjectLegalHold')) ? legalHold : undefined,
  };
}

function ifDenied(error: unknown): false {
  if (error instanceof S3Error && error.code === 'AccessDenied') return false;
  throw error;
}

/** Returns the response headers of GET and HEAD about a lock. */
export function lockFields({ retention, legalHold }: ObjectLock): readonly (readonly [string, string])[] {
  return [
    ...(retention
      ? [[modeField, retention.mode] as const, [dateField, formatIsoSecond(retention.until)] as const]
      : []),
    ...(legalHold ? [[holdField, legalHold] as const] : []),
  ];
}
