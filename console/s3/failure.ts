import { parseXml, textOf } from './xml.ts';

/** An error that the service returned, or the lack of an answer (`code` is then `Offline`). */
export class S3Failure extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string;
  /** The time of the service, in errors about this machine's clock. */
  readonly serverTime: string;
  /** The right that the caller does not have, where the service names it: `iam:ListUsers`. */
  readonly missingRight: string;

  constructor(failure: { status: number; code: string; message: string; requestId: string; serverTime?: string }) {
    super(failure.message);
    this.name = 'S3Failure';
    this.status = failure.status;
    this.code = failure.code;
    this.requestId = failure.requestId;
    this.serverTime = failure.serverTime ?? '';
    this.missingRight = /not authorized to perform: (\w+:\w+)/.exec(failure.message)?.[1] ?? '';
  }
}

const codes: Readonly<Record<number, string>> = {
  403: 'AccessDenied',
  404: 'NotFound',
  412: 'PreconditionFailed',
  503: 'SlowDown',
};

/** Reads the error of a response. Responses to HEAD have only a status. */
export function failureOf(status: number, body: string, requestId: string): S3Failure {
  if (body.includes('<Error')) {
    const xml = parseXml(body);
    const error = xml.name === 'Error' ? xml : (xml.optional('Error') ?? xml);
    return new S3Failure({
      status,
      code: textOf(error, 'Code'),
      message: textOf(error, 'Message'),
      requestId,
      serverTime: textOf(error, 'ServerTime'),
    });
  }
  return new S3Failure({ status, code: codes[status] ?? `HTTP ${status}`, message: '', requestId });
}

/** The failure of a request without a response: no network, no service, or an origin that the service does not know. */
export const offline = (): S3Failure => new S3Failure({ status: 0, code: 'Offline', message: '', requestId: '' });

/** Returns whether an error is one of the service's, with one of these codes if any are given. */
export function isFailure(error: unknown, ...names: readonly string[]): error is S3Failure {
  return error instanceof S3Failure && (names.length === 0 || names.includes(error.code));
}
