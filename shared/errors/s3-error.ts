import { errorTable, type ErrorCode } from './table.ts';

/** What an error may add to its row of the table. */
export interface S3ErrorOptions {
  /** Replaces the table's sentence. Never holds a secret, a path or another tenant's data. */
  readonly message?: string;
  /** Further elements of the error body, in order: `{ ArgumentName: 'max-keys' }`. */
  readonly details?: Readonly<Record<string, string>>;
  /** Further response headers: `{ allow: 'GET, HEAD' }`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the table's status, for the few codes that have two (RequestTimeout is 400 or 408). */
  readonly status?: number;
  /** What went wrong beneath, for the log only. */
  readonly cause?: unknown;
}

/**
 * An answer that is an S3 error. Only the pipeline catches and renders it.
 * Shape of the body: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#RESTErrorResponses
 */
export class S3Error extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: S3ErrorOptions = {}) {
    super(options.message ?? errorTable[code].message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'S3Error';
    this.code = code;
    this.status = options.status ?? errorTable[code].status;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }
}

/** 400 InvalidArgument that names the parameter or header and its value, as S3 does. */
export function invalidArgument(name: string, value: string, message?: string): S3Error {
  return new S3Error('InvalidArgument', {
    ...(message === undefined ? {} : { message }),
    details: { ArgumentName: name, ArgumentValue: value },
  });
}
