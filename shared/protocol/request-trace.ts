import type { Caller } from '../access/identity.ts';
import type { ErrorCode } from '../errors/table.ts';
import type { Target } from '../http/address.ts';
import type { QueryApi } from '../http/query-api.ts';
import type { Bucket } from '../storage/buckets/bucket.ts';

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
  /** The API in AWS's Query protocol that the request is for. */
  api?: QueryApi | '';
  /** True for a request of another API, whose clients read another form of error: unsupported.ts. */
  isS3Control?: true;
}
