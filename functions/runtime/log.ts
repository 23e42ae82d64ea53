import type { Writable } from 'node:stream';
import type { RequestRecord, Telemetry } from '../../shared/ports/telemetry.ts';

/** Milliseconds that a line may wait for others. */
const gatherTime = 10;

type LogFields = Readonly<Record<string, unknown>>;

/**
 * One line per request: JSON, or columns where a person looks at a terminal. Lines that come close together are written
 * together, since each write to standard output blocks.
 */
export class Log implements Telemetry {
  readonly #out: Writable;
  readonly #format: (level: string, message: string, fields: LogFields) => string;
  #pending: string[] = [];

  constructor(out: Writable & { readonly isTTY?: boolean }) {
    this.#out = out;
    this.#format = out.isTTY ? forPeople : asJson;
    process.once('exit', () => this.flush());
  }

  request(record: RequestRecord): void {
    this.#line('info', 'request', { ...record });
  }

  problem(message: string, error?: unknown, fields: LogFields = {}): void {
    const cause = error instanceof Error ? { error: error.stack ?? error.message } : {};
    this.#line('error', message, { ...fields, ...cause });
  }

  note(message: string, fields: LogFields = {}): void {
    this.#line('info', message, fields);
  }

  /** Writes what is pending at once, before the process ends. */
  flush(): void {
    if (this.#pending.length === 0) return;
    this.#out.write(this.#pending.join(''));
    this.#pending = [];
  }

  #line(level: string, message: string, fields: LogFields): void {
    if (this.#pending.push(this.#format(level, message, fields)) === 1) setTimeout(() => this.flush(), gatherTime);
  }
}

function asJson(level: string, message: string, fields: LogFields): string {
  return JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }) + '\n';
}

function forPeople(level: string, message: string, fields: LogFields): string {
  const time = new Date().toISOString().slice(11, 23);
  if (message !== 'request') {
    const rest = Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`);
    return `${time} ${level === 'error' ? 'error ' : ''}${message} ${rest.join(' ')}\n`;
  }
  const { status, method, operation, bucket, code, bytesIn, bytesOut, milliseconds, user, project } =
    fields as unknown as RequestRecord;
  const who = user === undefined ? 'anonymous' : `${user}/${project}`;
  const what = [
    status,
    method,
    operation,
    bucket ?? '-',
    code ?? '',
    who,
    `in ${bytesIn}`,
    `out ${bytesOut}`,
    `${milliseconds} ms`,
  ];
  return `${time} ${what.filter((one) => one !== '').join(' ')}\n`;
}
