import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Which way bytes go. */
export type Way = 'to the server' | 'to the client';

/** Passes TCP connections on, until it is told to hold what is sent, or to cut them. */
export class CuttingProxy {
  /** Whether something is held from here on: asked for each chunk, until it says so once. */
  holds: (way: Way, bytes: Buffer) => boolean = () => false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isOpen = true;
  #held: (() => void) | undefined;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @param port of the server, on the loopback interface */
  static async before(port: number): Promise<CuttingProxy> {
    const proxy: CuttingProxy = new CuttingProxy(createServer((client) => proxy.#pass(client, port)));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Waits until something is held: it, and what follows on its connection, never arrives. */
  whenHeld(): Promise<void> {
    return new Promise((resolve) => (this.#held = resolve));
  }

  /** Cuts all connections, and each new one until {@link mend}. */
  cut(): void {
    this.#isOpen = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(client: Socket, port: number): void {
    if (!this.#isOpen) {
      client.destroy();
      return;
    }
    const server = connect(port, '127.0.0.1');
    this.#forward(client, server, 'to the server');
    this.#forward(server, client, 'to the client');
  }

  #forward(from: Socket, to: Socket, way: Way): void {
    let isHeld = false;
    this.#sockets.add(from);
    from.on('error', () => undefined);
    from.once('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
    from.on('data', (bytes) => {
      if (!isHeld && this.holds(way, bytes)) {
        isHeld = true;
        this.holds = () => false;
        this.#held?.();
      }
      if (!isHeld) to.write(bytes);
    });
  }
}
