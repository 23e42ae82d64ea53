import { connect, createServer, type Server, type Socket } from 'node:net';
import { OperatorError } from '../../../shared/errors/operator-error.ts';

/** The actions of the service on a data directory for administrative commands, by name. Results are sent as JSON. */
export type ServiceActions = Readonly<Record<string, () => Promise<unknown>>>;

/** The longest name of an action, in characters. */
const longestName = 100;

/** The socket of a running service, which shows that it runs. */
export class ServiceSocket {
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  /** Commands that come before the service has started wait. */
  readonly #actions: Promise<ServiceActions>;
  #start: (actions: ServiceActions) => void = () => undefined;

  private constructor() {
    this.#actions = new Promise((resolve) => (this.#start = resolve));
    this.#server = createServer((socket) => this.#connected(socket));
  }

  /** @throws OperatorError */
  static listen(path: string): Promise<ServiceSocket> {
    return new Promise((resolve, reject) => {
      const socket = new ServiceSocket();
      const server = socket.#server;
      server.once('error', (error) =>
        reject(new OperatorError(`--data: cannot create a socket in the directory: ${error.message}`)),
      );
      server.listen(path, () => {
        server.unref();
        resolve(socket);
      });
    });
  }

  /** Answers commands from now on. */
  answer(actions: ServiceActions): void {
    this.#start(actions);
  }

  /** Cuts off commands, and removes the socket. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#connections) connection.destroy();
    await closed;
  }

  /** Reads a line, the name of an action, and answers with a line. Most connections only look whether somebody listens. */
  #connected(socket: Socket): void {
    this.#connections.add(socket);
    socket.unref();
    socket.on('close', () => this.#connections.delete(socket));
    socket.on('error', () => socket.destroy());
    let name = '';
    const read = (chunk: string): void => {
      name += chunk;
      if (name.length > longestName) socket.destroy();
      if (!name.includes('\n')) return;
      socket.off('data', read);
      void this.#act(name.slice(0, name.indexOf('\n'))).then((answer) => socket.end(`${JSON.stringify(answer)}\n`));
    };
    socket.setEncoding('utf8').on('data', read);
  }

  async #act(name: string): Promise<Answer> {
    const actions = await this.#actions;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    try {
      if (action === undefined) return { error: 'the service does not know this command: it is of another version' };
      return { result: await action() };
    } catch (error) {
      return { error: (error as Error).message };
    }
  }
}

type Answer = { readonly result: unknown } | { readonly error: string };

/** Returns whether a process listens on a socket. One that refuses access counts as listening. */
export async function isAnswered(path: string): Promise<boolean> {
  const socket = await connected(path);
  if (socket === 'refused') return true;
  socket?.destroy();
  return socket !== undefined;
}

/**
 * Asks the service that listens on a socket for an action.
 * @returns its result, or undefined if none listens
 * @throws OperatorError if the service cannot be asked, or the action fails
 */
export async function askService(path: string, action: string): Promise<{ readonly result: unknown } | undefined> {
  const socket = await connected(path);
  if (socket === undefined) return undefined;
  if (socket === 'refused') throw new OperatorError('the service runs as another user: run the command as that user');
  let text = '';
  socket.setEncoding('utf8').write(`${action}\n`);
  try {
    for await (const chunk of socket as AsyncIterable<string>) text += chunk;
  } catch (error) {
    throw new OperatorError(`the service did not answer: ${(error as Error).message}`);
  }
  if (text === '') throw new OperatorError('the service did not answer: it has stopped, or is of an earlier version');
  const answer = JSON.parse(text) as Answer;
  if ('error' in answer) throw new OperatorError(answer.error);
  return answer;
}

/** Connects to a socket. Returns undefined if no process listens on it. */
function connected(path: string): Promise<Socket | 'refused' | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code === 'ENOENT' || code === 'ECONNREFUSED' ? undefined : 'refused');
    });
  });
}
