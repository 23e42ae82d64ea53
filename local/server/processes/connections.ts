import { createServer, type Socket } from 'node:net';
import { listen } from '../../../shared/node-http/connections/listening.ts';

/** A process of the service, as connections see it. */
export interface Place {
  /** Serves a connection. It calls {@link Connections.closed} when that is over. */
  readonly serve: (socket: Socket) => void;
  /** How many connections each of its connections counts as. */
  readonly weight: number;
  /** Whether it does not answer at present: others get the connections. */
  readonly isSilent?: boolean;
}

/** Distributes the connections of a service among its processes: each gets one if it has the fewest, the first one among equals. */
export class Connections {
  /** How many connections a process can have open. */
  readonly #most: number;
  /** The open connections of the processes. */
  readonly #open = new Map<Place, number>();

  /** @param most how many connections a process may have; beyond that, others get them */
  constructor(most: number) {
    this.#most = most;
  }

  add(place: Place): void {
    this.#open.set(place, 0);
  }

  /** Forgets a process, with its connections. */
  remove(place: Place): void {
    this.#open.delete(place);
  }

  /** Notes that a connection of a process is closed. */
  closed(place: Place): void {
    const open = this.#open.get(place);
    if (open !== undefined) this.#open.set(place, open - 1);
  }

  /** Hands a connection to a process. @param except one that cannot take it, unless there is no other */
  distribute(socket: Socket, except?: Place): void {
    const others = [...this.#open].filter(([place]) => place !== except && !place.isSilent);
    const candidates = others.length > 0 ? others : [...this.#open];
    const [place, open] = candidates.reduce((best, one) => (this.#load(one) < this.#load(best) ? one : best));
    this.#open.set(place, open + 1);
    place.serve(socket);
  }

  #load([{ weight }, open]: readonly [Place, number]): number {
    // Where all are full, each makes room by itself.
    return open < this.#most ? open * weight : Number.MAX_SAFE_INTEGER / 2 + open;
  }
}

/** Accepts the connections of a service. */
export interface Acceptor {
  /** `http://127.0.0.1:9000` */
  readonly url: string;
  /** Stops accepting connections. Those that were accepted stay open. */
  close(): void;
}

/**
 * Accepts connections for processes, and does not read from them.
 * @throws OperatorError if it cannot listen on the address
 */
export async function acceptConnections(
  connections: Connections,
  address: { readonly port: number; readonly host: string },
  { isSecure, onError }: { readonly isSecure: boolean; readonly onError: (error: Error) => void },
): Promise<Acceptor> {
  // As those that a server for HTTP accepts itself.
  const options = { allowHalfOpen: true, noDelay: true, pauseOnConnect: true };
  const server = createServer(options, (socket) => connections.distribute(socket));
  return { url: await listen(server, address, isSecure, { onError }), close: () => void server.close() };
}
