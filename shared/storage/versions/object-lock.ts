import { S3Error } from '../../errors/s3-error.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html */

export const retentionModes = ['GOVERNANCE', 'COMPLIANCE'] as const;
export type RetentionMode = (typeof retentionModes)[number];

/** Until when a version may not be removed. */
export interface Retention {
  readonly mode: RetentionMode;
  /** The last second of the period, in seconds since the epoch: clients that extend it by less are not refused. */
  readonly until: number;
}

export type LegalHold = 'ON' | 'OFF';

/** What protects a version. */
export interface ObjectLock {
  readonly retention?: Retention | undefined;
  readonly legalHold?: LegalHold | undefined;
}

/** What a removal or a change may do nevertheless. `governance`: with the right to bypass it. */
export type Override = 'nothing' | 'governance';

/** The last time that has a date in the form of S3, in seconds since the epoch. */
export const latestRetention = 253_402_300_799;

/** Encodes a retention as the letter of its mode, and its end. */
export function encodeRetention({ mode, until }: Retention): string {
  return `${mode[0]!}${until}`;
}

/** Decodes what {@link encodeRetention} encoded. */
export function decodeRetention(stored: unknown): Retention | undefined {
  if (typeof stored !== 'string') return undefined;
  return { mode: stored.startsWith('G') ? 'GOVERNANCE' : 'COMPLIANCE', until: Number(stored.slice(1)) };
}

/** Returns the second of a time in milliseconds. */
export function secondOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

/** Thrown if a version is under a retention period or a legal hold. */
export class LockedVersion extends S3Error {
  constructor() {
    super('AccessDenied', { message: 'Access Denied because object protected by object lock.' });
  }
}

/** Returns whether a version may never be removed without {@link checkRemovable}: without reading the clock. */
export function mayBeLocked({ retention, legalHold }: ObjectLock): boolean {
  return legalHold === 'ON' || retention !== undefined;
}

/** Returns whether a version is protected at a time by which retention periods end. */
export function isLocked({ retention, legalHold }: ObjectLock, now: number): boolean {
  return legalHold === 'ON' || (retention !== undefined && isInForce(retention, now));
}

/**
 * Checks that a version may be removed permanently.
 * @param now the time by which retention periods end
 * @throws LockedVersion
 */
export function checkRemovable({ retention, legalHold }: ObjectLock, override: Override, now: number): void {
  if (legalHold === 'ON') throw new LockedVersion();
  if (retention && isInForce(retention, now) && !yields(retention, override)) throw new LockedVersion();
}

/**
 * Checks that the retention of a version may be replaced: a longer period in the same mode always, any other only with the right to
 * bypass governance, and in compliance mode never.
 * @throws LockedVersion
 */
export function checkReplaceable(
  { retention: before }: ObjectLock,
  after: Retention | undefined,
  override: Override,
  now: number,
): void {
  if (before === undefined || !isInForce(before, now) || yields(before, override)) return;
  if (after?.mode !== before.mode || after.until < before.until) throw new LockedVersion();
}

function isInForce({ until }: Retention, now: number): boolean {
  return secondOf(now) <= until;
}

function yields({ mode }: Retention, override: Override): boolean {
  return mode === 'GOVERNANCE' && override === 'governance';
}
