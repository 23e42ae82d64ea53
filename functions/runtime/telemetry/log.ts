import type { Writable } from 'node:stream';
import type { RequestRecord, Telemetry } from '../../../shared/ports/telemetry.ts';

/** Milliseconds that a line may wait for others. */
const gatherTime = 10;

/** What a line says besides its message. */
type LogFields = object;

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
    this.#line('info', 'request', record);
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

/** What ends a line, moves the cursor, or turns the direction of the text around: control and format characters, and U+2028 and U+2029. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const beyondAscii = /[^\x20-\x7e]/;

/** Text that a client may have chosen, on one line and as it reads. */
export function printable(text: string): string {
  return text.replace(unprintable, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

function asJson(level: string, message: string, fields: LogFields): string {
  const line = JSON.stringify({ time: new Date().toISOString(), level, message, ...fields });
  // Nearly every line is all ASCII, which is found out many times as fast.
  return (beyondAscii.test(line) ? line.replace(unprintable, asJsonEscape) : line) + '\n';
}

/** JSON.stringify has escaped the others below U+0020 already. */
function asJsonEscape(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}

function forPeople(level: string, message: string, fields: LogFields): string {
  const time = new Date().toISOString().slice(11, 23);
  if (message !== 'request') {
    const { error, ...others } = fields as { readonly error?: unknown };
    const rest = Object.entries(others).map(([name, value]) => `${name}=${String(value)}`);
    const line = `${time} ${level === 'error' ? 'error ' : ''}${printable([message, ...rest].join(' '))}`;
    return [line, ...stackLines(error)].join('\n') + '\n';
  }
  // Only request() writes this message.
  const { status, method, operation, bucket, code, bytesIn, bytesOut, milliseconds, user, project } =
    fields as RequestRecord;
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
  return `${time} ${printable(what.filter((one) => one !== '').join(' '))}\n`;
}

/** A stack keeps its lines, each further in than a line of the log begins. */
function stackLines(error: unknown): readonly string[] {
  return typeof error !== 'string' ? [] : error.split('\n').map((line) => `    ${printable(line.trim())}`);
}
