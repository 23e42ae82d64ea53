import { errorTable, type ErrorCode } from './table.ts';

/** Options that change or extend an error's row in the table. */
export interface S3ErrorOptions {
  /** Replaces the table's message. Must not contain a secret, a path or another tenant's data. */
  readonly message?: string;
  /** Additional elements of the error body, in order: `{ ArgumentName: 'max-keys' }`. */
  readonly details?: Readonly<Record<string, string>>;
  /** Additional response headers: `{ allow: 'GET, HEAD' }`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the table's status, for the few codes with two (RequestTimeout is 400 or 408). */
  readonly status?: number;
  /** The underlying error, for the log only. */
  readonly cause?: unknown;
}

/** The errors that need no cause: of a SlowDown, only the cause tells the operator what to do. */
export type PlainErrorCode = Exclude<ErrorCode, 'SlowDown'>;

/**
 * An S3 error response. Only the pipeline catches and renders it.
 * Format of the body: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#RESTErrorResponses
 */
export class S3Error extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: 'SlowDown', options: S3ErrorOptions & { readonly cause: unknown });
  constructor(code: PlainErrorCode, options?: S3ErrorOptions);
  constructor(code: ErrorCode, options: S3ErrorOptions = {}) {
    super(options.message ?? errorTable[code].message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'S3Error';
    this.code = code;
    this.status = options.status ?? errorTable[code].status;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }
}

/** Creates a 400 InvalidArgument error that names the parameter or header and its value, as S3 does. */
export function invalidArgument(name: string, value: string, message?: string): S3Error {
  return new S3Error('InvalidArgument', {
    ...(message === undefined ? {} : { message }),
    details: { ArgumentName: name, ArgumentValue: value },
  });
}
