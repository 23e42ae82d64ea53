import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Log } from '../../../shared/telemetry/log.ts';

/** Names that a client may choose: they must neither begin a line, nor move the cursor, nor reverse the text. */
const hostile = [
  ['a line of its own', 'a\n12:00:00.000 200 GET GetObject forged', 'a\\u{a}12:00:00.000', 'a\\n12:00:00.000'],
  ['a carriage return', 'a\rb', 'a\\u{d}b', 'a\\rb'],
  ['an escape sequence', 'a\u001b[2Jb', 'a\\u{1b}[2Jb', 'a\\u001b[2Jb'],
  ['DEL', 'a\u007fb', 'a\\u{7f}b', 'a\\u007fb'],
  ['CSI of C1', 'a\u009b2Jb', 'a\\u{9b}2Jb', 'a\\u009b2Jb'],
  ['next line', 'a\u0085b', 'a\\u{85}b', 'a\\u0085b'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b', 'a\\u2028b'],
  ['a paragraph separator', 'a\u2029b', 'a\\u{2029}b', 'a\\u2029b'],
  ['a right-to-left override', 'a\u202eb', 'a\\u{202e}b', 'a\\u202eb'],
  ['an isolate', 'a\u2066b', 'a\\u{2066}b', 'a\\u2066b'],
  ['half a character', 'a\ud800b', 'a\\u{d800}b', 'a\\ud800b'],
  ['a tag character', 'a\u{e0041}b', 'a\\u{e0041}b', 'a\\udb40\\udc41b'],
] as const;

function written(isTTY: boolean, act: (log: Log) => void): string {
  const out = Object.assign(new PassThrough(), { isTTY });
  const log = new Log(out);
  act(log);
  log.flush();
  return String(out.read());
}

const record = (text: string) => ({
  requestId: text,
  operation: text,
  method: text,
  status: 200,
  code: text,
  project: text,
  user: text,
  bucket: text,
  bytesIn: 0,
  bytesOut: 0,
  milliseconds: 1,
});

describe.each([
  ['for people', true],
  ['in JSON', false],
])('a log %s', (_, isTTY) => {
  it.each(hostile)('shows %s for what it is, in whatever field it comes', (_name, text, forPeople, inJson) => {
    const shown = isTTY ? forPeople : inJson;
    const lines = [
      written(isTTY, (log) => log.request(record(text))),
      written(isTTY, (log) => log.note(text, { field: text })),
      written(isTTY, (log) => log.problem(text, undefined, { field: text })),
    ];
    for (const line of lines) {
      expect(line).toMatch(/^[\x20-\x7e]*\n$/);
      expect(line.split(shown).length).toBeGreaterThan(2);
      if (!isTTY) expect(Object.values(JSON.parse(line) as object)).toContain(text);
    }
  });

  it('names what caused an error, and what caused that', () => {
    const cause = new RangeError('the table is busy', { cause: new Error('ThrottlingException') });
    const line = written(isTTY, (log) => log.problem('SlowDown', new Error('Please slow down', { cause })));
    expect(line).toContain('RangeError: the table is busy');
    expect(line).toContain('Error: ThrottlingException');
  });

  it('shows harmless characters unchanged', () => {
    const line = written(isTTY, (log) => log.request(record('日本 ä 😀')));
    expect(line).toContain('日本 ä 😀');
  });

  it.each(hostile)('lets no message of an error begin a line with %s', (_name, text) => {
    const error = Object.assign(new Error(text), { stack: `Error: ${text}\n    at somewhere` });
    const lines = written(isTTY, (log) => log.problem('a request failed', error)).split('\n');
    expect(lines.filter((line) => /^[\d{]/.test(line))).toHaveLength(1);
    for (const line of lines) expect(line).toMatch(/^[\x20-\x7e]*$/);
  });
});
