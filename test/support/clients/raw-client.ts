import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { trimBlanks } from '../../../shared/http/fields/field-syntax.ts';
import { patience } from '../runs/patience.ts';

/** A request as it is written on the wire. Nothing is added to it, nothing is normalised. */
export interface RawRequest {
  readonly method: string;
  /** Path and query, exactly as sent. */
  readonly target: string;
  /** In this order. Values are bytes as latin1 characters. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Uint8Array;
}

/** A response, taken apart and otherwise as it came. */
export interface RawResponse {
  readonly status: number;
  readonly reason: string;
  /** In the order received, names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Without the chunked transfer coding. */
  readonly body: Buffer;
  /** The body as UTF-8. */
  readonly text: string;
  /** The statuses of 1xx responses that came before it. */
  readonly interim: readonly number[];
  /** The value of a header that came at most once. */
  readonly header: (name: string) => string | undefined;
}

/** The bytes of a request's head and body. */
export function requestBytes({ method, target, headers, body = '' }: RawRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), '', ''];
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), Buffer.from(body)]);
}

/**
 * Sends one request on a new connection and reads one response.
 * @param authority to trust, in PEM
 */
export async function exchange(url: string, request: RawRequest, authority?: string): Promise<RawResponse> {
  const connection = await RawConnection.open(url, authority);
  try {
    connection.write(requestBytes(request));
    return await connection.response(request.method);
  } finally {
    connection.close();
  }
}

/** A connection that sends arbitrary bytes. */
export class RawConnection {
  readonly #socket: Socket;
  /** Below TLS, if the connection has it. */
  readonly #tcp: Socket;
  /** What has come and is not taken. */
  #pieces: Buffer[] = [];
  #length = 0;
  #ended = false;
  #wake: () => void = () => undefined;
  #interim: number[] = [];

  private constructor(socket: Socket, tcp: Socket) {
    this.#socket = socket;
    this.#tcp = tcp;
    const wake = (): void => this.#wake();
    socket.on('data', (bytes: Buffer) => {
      this.#pieces.push(bytes);
      this.#length += bytes.length;
      wake();
    });
    for (const event of ['end', 'close'] as const) {
      socket.on(event, () => {
        this.#ended = true;
        wake();
      });
    }
    // A reset ends the response: its reader gets the bytes received so far.
    socket.on('error', () => undefined);
  }

  static async open(url: string, authority?: string): Promise<RawConnection> {
    const { protocol, hostname, port } = new URL(url);
    const secure = protocol === 'https:';
    const to = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (secure ? 443 : 80)) };
    const tcp = connectTcp(to);
    const socket = secure ? connectTls({ socket: tcp, servername: hostname, ca: authority }) : tcp;
    await new Promise<void>((resolve, reject) => {
      socket.once(secure ? 'secureConnect' : 'connect', resolve);
      socket.once('error', reject);
    });
    return new RawConnection(socket, tcp);
  }

  write(bytes: string | Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** As {@link write}, and waits until the system has taken the bytes: of many, the other side has taken most by then. */
  async sent(bytes: string | Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()));
  }

  /** Ends the sending side; responses are still received. */
  end(): void {
    this.#socket.end();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Breaks the connection off: the other side sees no orderly end. */
  reset(): void {
    this.#tcp.resetAndDestroy();
  }

  /** Takes nothing that comes until {@link resume}. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Waits for the server to close the connection; false if it does not. */
  async closedWithin(milliseconds: number): Promise<boolean> {
    return this.#until(() => (this.#ended ? true : undefined), milliseconds).catch(() => false);
  }

  /** The status of the next response, which must be a 1xx. */
  async interim(): Promise<number> {
    const head = await this.#head();
    if (head.status >= 200) throw new Error(`an interim response was expected, ${head.status} came`);
    return head.status;
  }

  /**
   * The next final response.
   * @param method of the request, for HEAD is answered without a body
   */
  async response(method = 'GET'): Promise<RawResponse> {
    let head = await this.#head();
    while (head.status < 200) head = await this.#head();
    const interim = this.#interim;
    this.#interim = [];
    const body = await this.#body(method, head);
    const { status, reason, headers } = head;
    const header = (name: string): string | undefined => {
      const values = headers.filter(([one]) => one === name);
      if (values.length > 1) throw new Error(`the response has the header ${name} ${values.length} times`);
      return values[0]?.[1];
    };
    return { status, reason, headers, body, text: body.toString('utf8'), interim, header };
  }

  async #head(): Promise<Pick<RawResponse, 'status' | 'reason' | 'headers'>> {
    const end = await this.#ending('\r\n\r\n');
    const [first, ...lines] = this.#take(end + 4)
      .toString('latin1', 0, end)
      .split('\r\n');
    const [, status, reason] = /^HTTP\/1\.1 (\d{3}) (.*)$/.exec(first!) ?? [];
    if (status === undefined) throw new Error(`this is no HTTP response: ${first}`);
    if (Number(status) < 200) this.#interim.push(Number(status));
    const headers = lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), trimBlanks(line.slice(colon + 1))] as const;
    });
    return { status: Number(status), reason: reason!, headers };
  }

  async #body(method: string, { status, headers }: Pick<RawResponse, 'status' | 'headers'>): Promise<Buffer> {
    if (method === 'HEAD' || status === 204 || status === 304) return Buffer.alloc(0);
    const fields = new Map(headers);
    if (fields.get('transfer-encoding')?.toLowerCase() === 'chunked') return this.#chunks();
    const length = fields.get('content-length');
    if (length !== undefined) return this.#bytes(Number(length));
    await this.#until(() => (this.#ended ? true : undefined));
    return this.#take(this.#length);
  }

  async #chunks(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for (;;) {
      const end = await this.#ending('\r\n');
      const size = parseInt(this.#take(end + 2).toString('latin1'), 16);
      const chunk = (await this.#bytes(size + 2)).subarray(0, size);
      if (size === 0) return Buffer.concat(chunks);
      chunks.push(chunk);
    }
  }

  async #bytes(count: number): Promise<Buffer> {
    await this.#until(() => (this.#length >= count ? true : undefined));
    return this.#take(count);
  }

  /** The position of these characters, once they have come. */
  #ending(characters: string): Promise<number> {
    return this.#until(() => {
      const at = this.#received().indexOf(characters);
      return at < 0 ? undefined : at;
    });
  }

  #received(): Buffer {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0]!;
  }

  #take(count: number): Buffer {
    const received = this.#received();
    this.#pieces = [received.subarray(count)];
    this.#length -= count;
    return received.subarray(0, count);
  }

  /** Waits until the received bytes contain a match. */
  async #until<Found>(look: () => Found | undefined, milliseconds = patience): Promise<Found> {
    const deadline = Date.now() + milliseconds;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      const left = deadline - Date.now();
      if (this.#ended || left <= 0) {
        const what = this.#ended ? 'The connection ended' : `Nothing came for ${milliseconds} ms`;
        throw new Error(`${what}; received and not understood: ${JSON.stringify(this.#received().toString('latin1'))}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}
