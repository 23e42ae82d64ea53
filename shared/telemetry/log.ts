import type { RequestRecord, Telemetry } from '../ports/telemetry.ts';
import { LogOutput } from './log-output.ts';

/** Milliseconds for which lines are gathered into one write. */
const gatherTime = 10;
/** Of an error, so many causes are logged. */
const maxCauses = 4;

/** Where lines go: standard output, or a stream. */
export interface LogSink {
  readonly isTTY?: boolean | undefined;
  write(lines: string): unknown;
}

/** The fields of a line besides its message. */
type LogFields = object;

/**
 * Writes one line per request: JSON, or columns on a terminal. Lines in quick succession go out in one write, as each write to
 * standard output blocks.
 */
export class Log implements Telemetry {
  readonly #out: LogSink;
  readonly #format: (level: string, message: string, fields: LogFields) => string;
  #pending: string[] = [];

  /** @param options.timeField the name of the time in JSON */
  constructor(out: LogSink, { timeField = 'time' }: { readonly timeField?: 'time' | 'timestamp' } = {}) {
    this.#out = out;
    this.#format = out.isTTY ? forPeople : asJson(timeField);
    if (out instanceof LogOutput) {
      out.onRecovery = (lines) => this.#format('error', 'lines of the log were dropped', { lines });
    }
    process.once('exit', () => this.flush());
  }

  request(record: RequestRecord): void {
    this.#line('info', 'request', record);
  }

  problem(message: string, error?: unknown, fields: LogFields = {}): void {
    const { causes, ...stack } = error instanceof Error ? traceOf(error) : {};
    this.#line('error', message, { ...fields, ...(causes?.length && { causes }), ...stack });
  }

  note(message: string, fields: LogFields = {}): void {
    this.#line('info', message, fields);
  }

  /** Writes pending lines now, before the process exits. */
  flush(): void {
    if (this.#pending.length === 0) return;
    this.#out.write(this.#pending.join(''));
    this.#pending = [];
  }

  #line(level: string, message: string, fields: LogFields): void {
    if (this.#pending.push(this.#format(level, message, fields)) === 1) setTimeout(() => this.flush(), gatherTime);
  }
}

/** Returns the stack of an error, and what caused it in turn: name and message of each. */
function traceOf(error: Error): { readonly error: string; readonly causes: readonly string[] } {
  const causes: string[] = [];
  for (let { cause } = error; cause instanceof Error && causes.length < maxCauses; { cause } = cause) {
    causes.push(`${cause.name}: ${cause.message}`);
  }
  return { error: error.stack ?? error.message, causes };
}

/** Characters that end a line, move the cursor or reverse the text direction: control and format characters, U+2028 and U+2029. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const beyondAscii = /[^\x20-\x7e]/;

/** Escapes text that a client may have chosen, so that it stays on one line and reads as it is. */
export function printable(text: string): string {
  return text.replace(unprintable, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

function asJson(timeField: string): (level: string, message: string, fields: LogFields) => string {
  return (level, message, fields) => {
    const line = JSON.stringify({ [timeField]: new Date().toISOString(), level, message, ...fields });
    // Nearly every line is ASCII only, which is much faster to test.
    return (beyondAscii.test(line) ? line.replace(unprintable, asJsonEscape) : line) + '\n';
  };
}

/**
 * Returns the log of a process in the cloud. Lambda takes a line without `timestamp` for one of the level INFO, whatever its own is.
 * https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html
 */
export function cloudLog(out: LogSink): Log {
  return new Log(out, { timeField: 'timestamp' });
}

/** JSON.stringify has escaped the characters below U+0020 already. */
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

/** Keeps the lines of a stack, indented. */
function stackLines(error: unknown): readonly string[] {
  return typeof error !== 'string' ? [] : error.split('\n').map((line) => `    ${printable(line.trim())}`);
}
