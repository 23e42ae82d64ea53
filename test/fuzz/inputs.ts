import type { Random } from '../linearizability/random.ts';

/** The parts from which the inputs for a parser are built. */
export interface Grammar {
  /** Pieces that mean something to it, and some that mean nothing. */
  readonly pieces: readonly string[];
  /** The prefix and suffix of most inputs. */
  readonly around?: readonly [before: string, behind: string];
}

/** Common problems for parsers: ends of ranges, halves of characters, and the syntax of other formats. */
const strange = [
  ...['', '\0', '\x01', '\x7f', '\x80', '\xff', 'é', 'ǆ', '\u2028', '\ufeff', '\ufffd', '\ud800', '\udc00', '😀'],
  ...[' ', '\t', '\r', '\n', '\r\n', '\v', '%', '%00', '%zz', '%ff', '%25', '+', '&', '=', '?', '#', '/', '\\', '"'],
  ...["'", '<', '>', '&#0;', '&#x10ffff;', '&a;', ']]>', '<!--', '<?', '${', '}', '$', '*', ';', ',', ':', '.', '..'],
  ...['-1', '0', '-0', '00', '1e309', 'NaN', 'Infinity', '4294967296', '9007199254740993', '1'.repeat(40)],
  ...['__proto__', 'constructor', 'toString', 'null', 'true', 'undefined'],
];
const maxPieces = 14;
const maxLength = 4096;

/** Returns a new input: pieces in a row, an earlier input that is changed, or two that are joined. */
export function inputOf(random: Random, { pieces, around }: Grammar, corpus: readonly string[]): string {
  const dice = random.next();
  if (corpus.length === 0 || dice < 0.4) return inRow(random, pieces, around);
  let text = random.oneOf(corpus);
  if (dice > 0.92) {
    const other = random.oneOf(corpus);
    text = text.slice(0, random.below(text.length + 1)) + other.slice(random.below(other.length + 1));
  }
  for (let changes = 1 + random.below(3); changes > 0; changes -= 1) text = changed(random, text, pieces);
  return text.slice(0, maxLength);
}

function inRow(random: Random, pieces: readonly string[], around: Grammar['around']): string {
  let text = '';
  for (let count = random.below(maxPieces); count > 0; count -= 1) {
    const piece = random.next() < 0.12 ? random.oneOf(strange) : random.oneOf(pieces);
    text += random.next() < 0.04 ? piece.repeat(1 + random.below(20)) : piece;
  }
  return around === undefined || random.next() < 0.1 ? text : around[0] + text + around[1];
}

function changed(random: Random, text: string, pieces: readonly string[]): string {
  const start = random.below(text.length + 1);
  const end = start + random.below(Math.min(text.length - start, 24) + 1);
  switch (random.below(6)) {
    case 0:
      return text.slice(0, start) + text.slice(end);
    case 1:
      return text.slice(0, start) + text.slice(start, end).repeat(2 + random.below(4)) + text.slice(end);
    case 2:
      return text.slice(0, start) + random.oneOf(pieces) + text.slice(end);
    case 3:
      return text.slice(0, start) + random.oneOf(strange) + text.slice(start);
    case 4:
      return text.slice(0, start) + String.fromCharCode(random.below(256)) + text.slice(start + 1);
    default: {
      const to = random.below(text.length + 1);
      return text.slice(0, to) + text.slice(start, end) + text.slice(to);
    }
  }
}
