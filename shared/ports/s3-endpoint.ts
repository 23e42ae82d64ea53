/** The address of an S3, or of a bucket in it. */
export interface S3Address {
  /** Undefined: the whole of it. */
  readonly bucket: string | undefined;
  /** The beginning of the keys that are meant. */
  readonly prefix: string;
  /** Undefined: AWS's own. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly bucket: string;
  /** Undefined: the request is about the bucket. */
  readonly key?: string | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly fields?: Readonly<Record<string, string>>;
  /** Bytes are sent again if need be, a stream is not. @throws what the stream throws */
  readonly body?: Uint8Array | { readonly bytes: AsyncIterable<Uint8Array>; readonly length: number };
  /** It is not sent again after a failure, as it may have been carried out. */
  readonly once?: true;
}

/** A successful response. */
export interface S3Response {
  /** By names in lower case. Values are bytes as latin1 characters. */
  readonly fields: Readonly<Record<string, string>>;
  /** Of a GET or a POST; must be read to its end, or returned early. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Any S3, which is sent plain requests of its API with the credentials of whoever runs the command. */
export interface S3Endpoint {
  /** How an operator names it. */
  readonly name: string;
  /** @throws RequestRefused, TargetFailed (nobody answers, although it was tried for two minutes) */
  send(request: S3Request): Promise<S3Response>;
  /** Returns the names of the buckets. @throws as {@link send} */
  buckets(): Promise<readonly string[]>;
}

/** An S3 has answered with an error; one that may pass, several times. */
export class RequestRefused extends Error {
  readonly status: number;
  /** The code of the error; for a HEAD what the client made of its status. */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = 'RequestRefused';
    this.status = status;
    this.code = code;
  }
}
