import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer, type TLSSocket } from 'node:tls';
import { connectionName } from './listening.ts';

/** A connection, and how many requests it has in progress. */
interface Connection {
  readonly socket: Socket;
  /** Over the limit while all others were busy: its requests are refused. */
  readonly isSurplus: boolean;
  requests: number;
  isClosed: boolean;
}

/** The share of further connections that are kept for long enough to be refused with an answer. */
const surplusShare = 0.1;

/**
 * Limits the connections of servers. A connection beyond the limit takes the place of the one that has been idle for longest: an idle
 * client connects again when it likes. Only if no connection is idle are the requests of another one refused.
 */
export class ConnectionLimit {
  /** How many connections there may be. */
  readonly most: number;
  readonly #mostSurplus: number;
  readonly #onRefusal: () => void;
  /** By the sockets of their requests: of a TLS connection, another one than that which the server has accepted. */
  readonly #ofRequests = new WeakMap<Socket, Connection>();
  /** The connections without a request, the one that has been idle for longest first. */
  readonly #idle = new Set<Connection>();
  /** Surplus ones do not count. */
  #open = 0;
  #surplus = 0;

  /** @param most how many connections there may be. @param onRefusal called for each connection whose requests are refused */
  constructor(most: number, onRefusal: () => void) {
    this.most = most;
    this.#mostSurplus = Math.max(1, Math.floor(most * surplusShare));
    this.#onRefusal = onRefusal;
  }

  /** Limits the connections of a server, together with those of all others that it limits. */
  limit(server: Server): void {
    const handshakes = new Map<string, Connection>();
    const isTls = server instanceof TlsServer;
    server.on('connection', (socket: Socket) => {
      const connection = this.#connected(socket);
      if (connection === undefined || !isTls) return;
      const name = connectionName(socket);
      handshakes.set(name, connection);
      socket.once('close', () => handshakes.delete(name));
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      const connection = handshakes.get(connectionName(socket));
      if (connection) this.#ofRequests.set(socket, connection);
    });
    const requested = ({ socket }: IncomingMessage, response: ServerResponse): void => {
      const connection = this.#ofRequests.get(socket);
      if (connection === undefined) return;
      this.#begin(connection);
      response.once('close', () => this.#end(connection));
    };
    server.on('request', requested).on('checkContinue', requested).on('checkExpectation', requested);
  }

  /** Tells whether the requests of a connection are to be refused. */
  isSurplus(socket: Socket): boolean {
    return this.#ofRequests.get(socket)?.isSurplus === true;
  }

  #connected(socket: Socket): Connection | undefined {
    if (this.#open >= this.most) this.#closeIdle();
    const isSurplus = this.#open >= this.most;
    if (isSurplus) {
      this.#onRefusal();
      if (this.#surplus >= this.#mostSurplus) {
        socket.destroy();
        return undefined;
      }
    }
    const connection: Connection = { socket, isSurplus, requests: 0, isClosed: false };
    this.#ofRequests.set(socket, connection);
    if (isSurplus) this.#surplus += 1;
    else {
      this.#open += 1;
      this.#idle.add(connection);
    }
    socket.once('close', () => this.#forget(connection));
    return connection;
  }

  #closeIdle(): void {
    const [longest] = this.#idle;
    if (longest === undefined) return;
    // Its place is free at once, although the socket closes later.
    this.#forget(longest);
    longest.socket.destroy();
  }

  #begin(connection: Connection): void {
    connection.requests += 1;
    this.#idle.delete(connection);
  }

  #end(connection: Connection): void {
    connection.requests -= 1;
    if (connection.requests === 0 && !connection.isClosed && !connection.isSurplus) this.#idle.add(connection);
  }

  #forget(connection: Connection): void {
    if (connection.isClosed) return;
    connection.isClosed = true;
    this.#idle.delete(connection);
    if (connection.isSurplus) this.#surplus -= 1;
    else this.#open -= 1;
  }
}
