import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Measurement, Order, Reply } from './generator-messages.ts';

type OrderOf<Kind extends Order['do']> = Omit<Extract<Order, { do: Kind }>, 'do'>;

/** A load generator in a process of its own: generator.ts. It executes one order at a time. */
export class GeneratorProcess {
  readonly #child: ChildProcess;
  #listener: ((reply: Reply) => void) | undefined;

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'generator.ts'), { execArgv: ['--import', 'tsx'] });
    this.#child.on('message', (reply: Reply) => this.#listener?.(reply));
    this.#child.on('exit', (code) => {
      this.#listener?.({ kind: 'failed', message: `the load generator ended with ${String(code)}` });
    });
  }

  /** Creates buckets and objects that the cases need. @throws Error if the server refuses any */
  async fill(order: OrderOf<'fill'>): Promise<void> {
    await this.#order({ do: 'fill', ...order }, 'done');
  }

  /** Sends the requests of a case. @throws Error if it cannot be prepared */
  async measure(order: OrderOf<'measure'>): Promise<Measurement> {
    return (await this.#order({ do: 'measure', ...order }, 'measured')).measurement;
  }

  /** Starts the load beside a case. Resolves when it runs; returns a function that stops it and resolves to a summary of it. */
  async load(order: OrderOf<'load'>): Promise<() => Promise<string>> {
    await this.#order({ do: 'load', ...order }, 'loading');
    return async () => (await this.#order({ do: 'stop' }, 'loaded')).made;
  }

  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  #order<Kind extends Reply['kind']>(order: Order, kind: Kind): Promise<Extract<Reply, { kind: Kind }>> {
    return new Promise((resolve, reject) => {
      this.#listener = (reply) => {
        this.#listener = undefined;
        if (reply.kind === kind) resolve(reply as Extract<Reply, { kind: Kind }>);
        else reject(new Error(reply.kind === 'failed' ? reply.message : `unexpected: ${reply.kind}`));
      };
      this.#child.send(order);
    });
  }
}
