import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { ResponseScanner, type ScannedResponse } from './response-scanner.ts';
import type { SignedRequest } from './signed-request.ts';

/** One buffer for all connections: received bytes are scanned, and not kept. */
const received = Buffer.allocUnsafeSlow(512 * 1024);

/** A connection of a load generator, for one request after the other. Connects, and connects again, when a request is sent. */
export class Connection {
  readonly #url: URL;
  readonly #scanner = new ResponseScanner();
  #socket: Socket | undefined;
  #resolve: (response: ScannedResponse) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(url: URL) {
    this.#url = url;
  }

  /** Sends a request. @throws Error if the connection ends before the response */
  exchange({ head, body, isHead, keepsBody }: SignedRequest): Promise<ScannedResponse> {
    this.#scanner.expect(isHead, keepsBody);
    const response = new Promise<ScannedResponse>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const socket = (this.#socket ??= this.#connect());
    if (body === undefined) {
      socket.write(head);
    } else {
      socket.cork();
      socket.write(head);
      socket.write(body);
      socket.uncork();
    }
    return response;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #connect(): Socket {
    const { protocol, hostname, port } = this.#url;
    const onread = { buffer: received, callback: (size: number) => this.#take(received.subarray(0, size)) };
    const socket =
      protocol === 'https:'
        ? connectSecurely({ host: hostname, port: Number(port || 443), rejectUnauthorized: false })
        : connectPlain({ host: hostname, port: Number(port || 80), noDelay: true, onread });
    // TLS decrypts into buffers of its own.
    if (protocol === 'https:') socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', (error: Error) => this.#lose(socket, error));
    socket.on('close', () => this.#lose(socket, new Error('the server closed the connection')));
    return socket;
  }

  #take(bytes: Buffer): true {
    try {
      const response = this.#scanner.take(bytes);
      if (response !== undefined) this.#complete(response);
    } catch (error) {
      this.#reject(error as Error);
      this.close();
    }
    return true;
  }

  #complete(response: ScannedResponse): void {
    if (response.closes) this.close();
    this.#resolve(response);
  }

  #lose(socket: Socket, error: Error): void {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    const response = this.#scanner.end();
    if (response === undefined) this.#reject(error);
    else this.#resolve(response);
  }
}
