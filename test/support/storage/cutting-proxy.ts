import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Which way bytes go. */
export type Way = 'to the server' | 'to the client';

/** Passes TCP connections on, until it is told to hold what is sent, or to cut them. */
export class CuttingProxy {
  /** Whether something is held from here on: asked for each chunk, until it says so once. */
  holds: (way: Way, bytes: Buffer) => boolean = () => false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Set<Socket>();
  #target: number;
  #isOpen = true;
  #held: (() => void) | undefined;

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.#target = target;
  }

  /** @param port of the server, on the loopback interface */
  static async before(port: number): Promise<CuttingProxy> {
    const proxy: CuttingProxy = new CuttingProxy(
      createServer((client) => proxy.#pass(client)),
      port,
    );
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

  /**
   * Cuts all connections, and each new one until {@link mend}.
   * @param lastWords what clients are still told, as a pooler does that has lost the server
   */
  cut(lastWords?: Buffer): void {
    this.#isOpen = false;
    for (const socket of this.#sockets) {
      if (lastWords !== undefined && this.#clients.has(socket)) socket.end(lastWords, () => socket.destroy());
      else socket.destroy();
    }
  }

  /** Cuts all connections, and makes new ones to another port, as a balancer does when a standby is promoted. */
  moveTo(port: number): void {
    this.cut();
    this.#target = port;
    this.mend();
  }

  mend(): void {
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(client: Socket): void {
    if (!this.#isOpen) {
      client.destroy();
      return;
    }
    this.#clients.add(client);
    client.once('close', () => this.#clients.delete(client));
    const server = connect(this.#target, '127.0.0.1');
    this.#forward(client, server, 'to the server');
    this.#forward(server, client, 'to the client');
  }

  #forward(from: Socket, to: Socket, way: Way): void {
    let isHeld = false;
    this.#sockets.add(from);
    from.on('error', () => undefined);
    from.once('close', () => {
      this.#sockets.delete(from);
      // Who is still being told something closes by itself.
      if (!to.writableEnded) to.destroy();
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
