import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ProxyEvent, ProxyResult } from '../../functions/cloud/api-gateway.ts';

interface Reply {
  readonly id: number;
  readonly result?: ProxyResult;
  readonly error?: string;
}

/** The maximum payload of an invocation of Lambda: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const payloadBytes = 6 * 1024 * 1024;

/** A function as it is deployed, in a process of its own with nothing but its environment. */
export class FunctionProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #output = '';
  #count = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message: Reply | 'ready') => {
      if (message !== 'ready') this.#waiting.get(message.id)?.(message);
    });
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    }
  }

  /** @param directory of the bundle */
  static async start(directory: string, environment: Readonly<Record<string, string>>): Promise<FunctionProcess> {
    const bundle = pathToFileURL(join(directory, 'index.mjs')).href;
    const child = fork(join(import.meta.dirname, 'function-host.mjs'), [bundle], {
      env: { ...environment },
      execArgv: [],
      silent: true,
    });
    const started = new FunctionProcess(child);
    const [first] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as unknown[];
    if (first !== 'ready') throw new Error(`the function ended with ${String(first)}: ${started.#output}`);
    return started;
  }

  /** Returns the log of the function as Lambda delivers it. */
  get log(): string {
    return this.#output.split('\n').map(asDelivered).join('\n');
  }

  /**
   * @param later the milliseconds by which its clock is ahead
   * @param remaining the remaining milliseconds that it is given
   * @throws Error if the function failed, or if event or result exceed Lambda's limit
   */
  async invoke<Result = ProxyResult>(event: ProxyEvent | object, later = 0, remaining = 300_000): Promise<Result> {
    checkSize(event);
    const id = (this.#count += 1);
    const reply = await new Promise<Reply>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.send({ id, event, later, remaining });
    });
    this.#waiting.delete(id);
    if (reply.error !== undefined) throw new Error(reply.error);
    if (reply.result !== undefined) checkSize(reply.result);
    return reply.result as Result;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * A JSON line without a valid time in `timestamp` has the level INFO, whatever its own.
 * https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
 */
function asDelivered(line: string): string {
  if (!line.startsWith('{') || !line.endsWith('}')) return line;
  const fields = JSON.parse(line) as Record<string, unknown>;
  return rfc3339.test(String(fields['timestamp'])) ? line : JSON.stringify({ ...fields, level: 'INFO' });
}

function checkSize(payload: object): void {
  if (Buffer.byteLength(JSON.stringify(payload)) > payloadBytes) throw new Error('RequestEntityTooLargeException');
}
