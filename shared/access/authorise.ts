import { S3Error } from '../errors/s3-error.ts';
import type { Caller } from './identity.ts';

/** What an operation asks before it acts. DeleteObjects asks once per key, CopyObject about source and target. */
export interface Question {
  /** The policy action without its namespace: `GetObject`, `ListBucket`. */
  readonly action: string;
  /** Absent for questions about the service itself: CreateBucket, ListAllMyBuckets. */
  readonly bucket?: string;
  readonly key?: string;
  readonly versionId?: string;
}

/** What the gate must know of a bucket. */
export interface OwnedBucket {
  readonly project: string;
}

/**
 * The one authorisation gate. Every user of the project that owns a bucket has full control of it and of what is in it;
 * nobody else has any right.
 *
 * @throws S3Error AccessDenied
 */
export function decide(caller: Caller, question: Question, bucket: OwnedBucket | undefined): void {
  if (question.action === 'ListAllMyBuckets') return;
  if (caller.kind === 'user' && (bucket === undefined || bucket.project === caller.project.id)) return;
  throw new S3Error('AccessDenied');
}
