import type { Caller } from '../access/identity.ts';
import type { ErrorCode } from '../errors/table.ts';
import type { Target } from '../http/address.ts';
import type { OtherApi } from '../http/query-api.ts';
import type { Bucket } from '../storage/buckets/bucket.ts';
import type { Authenticated } from './authentication/authenticated.ts';
import type { Place } from './objects/questions.ts';

/** What became of the deletion of a key. */
export interface LoggedDeletion {
  readonly key: string;
  readonly versionId?: string | undefined;
  /** The code of the error; undefined: it was deleted. */
  readonly code?: string | undefined;
}

/** The facts known about a request, for its log line and its error body. */
export interface RequestTrace {
  readonly requestId: string;
  readonly startedAt: number;
  operation: string;
  caller: Caller;
  target: Target | undefined;
  /** The bucket that the request is about, once it is known. */
  bucket: Bucket | undefined;
  code: ErrorCode | undefined;
  /** How it was signed, once that is verified. */
  scheme?: Authenticated['scheme'];
  /** The key of the object, if it names one, also in a form. */
  key?: string | undefined;
  /** Set if an ACL allowed it, and nothing else did. */
  aclRequired?: true;
  /** The time at which its body had arrived, if its bucket has an access log. */
  receivedAt?: number;
  /** What it did to each of several keys, if its bucket has an access log or is audited. */
  deletions?: readonly LoggedDeletion[];
  /** The source of a copy. */
  copied?: {
    readonly place: Place;
    readonly bucket: () => Promise<Bucket>;
    /** Returns its bucket if the request has read that; one that was refused before has not. */
    readonly seen: () => Promise<Bucket> | undefined;
  };
  /** The API besides S3 that the request is for. */
  api?: OtherApi | '';
  /** Whether there was room for it in the audit log. Undefined: it does not belong there. */
  isTakenDown?: boolean;
  /** The parameters of its action, without secrets. */
  given?: Readonly<Record<string, unknown>>;
  /** True for a request of another API, whose clients read another form of error: unsupported.ts. */
  isS3Control?: true;
}
