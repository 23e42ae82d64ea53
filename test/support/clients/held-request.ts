import { RawConnection, requestBytes, type RawResponse } from './raw-client.ts';
import type { ServiceUnderTest } from '../programs/service-under-test.ts';
import { anonymous, signed, type Key, type Unsigned } from './signer.ts';

export interface Holding {
  /** The key that signs the request; null: it is anonymous. */
  readonly key: Key | null;
  /** The number of bytes that are held back. Default: 1. */
  readonly keptBack?: number;
  /** The framing of the body. Default: Content-Length. */
  readonly framing?: 'length' | 'chunked';
}

/**
 * A request on a connection of its own whose body is not complete yet. It is already authorised: `100 Continue` is sent when the first byte
 * of the body is read, which happens only after authorisation. (A form is read to find its credentials: if its file is much larger than the
 * buffers of a connection, most of it must have been read.) In the cloud CloudFront answers `Expect`, and API Gateway waits for the last
 * byte: a request that it forwards is authorised only when it is finished.
 */
export class HeldRequest {
  readonly #connection: RawConnection;
  readonly #method: string;
  readonly #rest: Buffer;

  private constructor(connection: RawConnection, method: string, rest: Buffer) {
    this.#connection = connection;
    this.#method = method;
    this.#rest = rest;
  }

  /** @param request with a body, or an empty one in chunks @throws Error if it is answered before its body is sent */
  static async begin(
    { url, host }: Pick<ServiceUnderTest, 'url' | 'host'>,
    request: Unsigned,
    { key, keptBack = 1, framing = 'length' }: Holding,
  ): Promise<HeldRequest> {
    const body = Buffer.from(request.body ?? '');
    const headers = {
      ...request.headers,
      ...(framing === 'chunked' && { 'transfer-encoding': 'chunked' }),
      // A configuration, here none, must have a length, whatever its framing.
      ...(body.length === 0 && { 'x-amz-decoded-content-length': '0' }),
      expect: '100-continue',
    };
    const unsigned = { ...request, body, headers };
    const whole = key === null ? anonymous(host, unsigned) : signed(host, unsigned, { key });
    const [first, last] = [body.subarray(0, -keptBack), body.subarray(-keptBack)];
    const connection = await RawConnection.open(url);
    try {
      connection.write(requestBytes({ ...whole, body: '' }));
      await connection.interim();
      await connection.sent(framing === 'length' ? first : chunk(first));
      const rest = framing === 'length' ? last : Buffer.concat([chunk(last), Buffer.from('0\r\n\r\n')]);
      return new HeldRequest(connection, whole.method, rest);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** Sends the end, and gives the answer. */
  async finish(): Promise<RawResponse> {
    try {
      this.#connection.write(this.#rest);
      return await this.#connection.response(this.#method);
    } finally {
      this.#connection.close();
    }
  }
}

/** A chunk of the transfer coding; nothing for no bytes, since an empty chunk would be the last. */
function chunk(bytes: Uint8Array): Buffer {
  if (bytes.length === 0) return Buffer.alloc(0);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}
