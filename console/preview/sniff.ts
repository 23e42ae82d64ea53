/** The kind of content, found by its bytes alone: the uploader chose name and Content-Type. */
export type Sniffed =
  | { readonly kind: 'image' | 'audio' | 'video'; readonly type: string }
  | { readonly kind: 'json' | 'csv' | 'text'; readonly encoding: Encoding }
  | { readonly kind: 'pdf' | 'none' };

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

interface Signature {
  readonly at: number;
  /** The bytes, as Latin-1 text. */
  readonly bytes: string;
  readonly found: Sniffed;
}

// https://mimesniff.spec.whatwg.org/#matching-an-image-type-pattern and its audio and video sections. No SVG: it is markup.
const signatures: readonly Signature[] = [
  { at: 0, bytes: '\x89PNG\r\n\x1a\n', found: { kind: 'image', type: 'image/png' } },
  { at: 0, bytes: '\xff\xd8\xff', found: { kind: 'image', type: 'image/jpeg' } },
  { at: 0, bytes: 'GIF87a', found: { kind: 'image', type: 'image/gif' } },
  { at: 0, bytes: 'GIF89a', found: { kind: 'image', type: 'image/gif' } },
  { at: 8, bytes: 'WEBP', found: { kind: 'image', type: 'image/webp' } },
  { at: 4, bytes: 'ftypavif', found: { kind: 'image', type: 'image/avif' } },
  { at: 0, bytes: 'BM', found: { kind: 'image', type: 'image/bmp' } },
  { at: 8, bytes: 'WAVE', found: { kind: 'audio', type: 'audio/wav' } },
  { at: 0, bytes: 'ID3', found: { kind: 'audio', type: 'audio/mpeg' } },
  { at: 0, bytes: '\xff\xfb', found: { kind: 'audio', type: 'audio/mpeg' } },
  { at: 0, bytes: 'fLaC', found: { kind: 'audio', type: 'audio/flac' } },
  { at: 0, bytes: 'OggS', found: { kind: 'audio', type: 'audio/ogg' } },
  { at: 4, bytes: 'ftypM4A', found: { kind: 'audio', type: 'audio/mp4' } },
  { at: 4, bytes: 'ftyp', found: { kind: 'video', type: 'video/mp4' } },
  { at: 0, bytes: '\x1aE\xdf\xa3', found: { kind: 'video', type: 'video/webm' } },
  { at: 0, bytes: '%PDF-', found: { kind: 'pdf' } },
];

const enough = 64 * 1024;

/** Returns the kind of content of bytes. */
export function sniff(bytes: Uint8Array): Sniffed {
  const begins = ({ at, bytes: wanted }: Signature): boolean =>
    [...wanted].every((char, index) => bytes[at + index] === char.charCodeAt(0));
  const known = signatures.find(begins);
  const beginning = bytes.subarray(0, enough);
  const encoding = encodingOf(beginning);
  if (known !== undefined && !(known.bytes === 'BM' && encoding !== undefined)) return known.found;
  if (encoding === undefined) return { kind: 'none' };
  const text = new TextDecoder(encoding).decode(beginning);
  const kind = /^\s*[{[]/.test(text) ? 'json' : isTable(text) ? 'csv' : 'text';
  return { kind, encoding };
}

/** Returns the encoding in which bytes are text; undefined: in none. Latin-1 is read as its superset, as browsers do. */
function encodingOf(bytes: Uint8Array): Encoding | undefined {
  const wide = wideEncodingOf(bytes);
  if (wide !== undefined) return isText(bytes, wide) ? wide : undefined;
  if (isText(bytes, 'utf-8')) return 'utf-8';
  // In single-byte text of Latin languages most letters are ASCII, which those of other data are by chance only.
  const letters = bytes.filter((byte) => byte < 128).length;
  return letters * 3 >= bytes.length * 2 && isText(bytes, 'windows-1252') ? 'windows-1252' : undefined;
}

/** Returns the kind of UTF-16 that a byte order mark names, or else the zeros of Latin letters. */
function wideEncodingOf(bytes: Uint8Array): Encoding | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const zeros = [0, 0];
  for (const [at, byte] of bytes.entries()) if (byte === 0) zeros[at % 2]!++;
  const [first, second] = zeros as [number, number];
  if (first + second < bytes.length / 4) return undefined;
  if (first === 0) return 'utf-16le';
  return second === 0 ? 'utf-16be' : undefined;
}

/** Returns whether bytes are characters of an encoding, without control characters other than those of text. */
function isText(bytes: Uint8Array, encoding: Encoding): boolean {
  try {
    // A character may be cut in two at the end.
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
    // eslint-disable-next-line no-control-regex -- these are what text does not have
    return !/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text);
  } catch {
    return false;
  }
}

/** Returns whether the first lines have the same number of fields, and more than one. */
function isTable(text: string): boolean {
  const lines = text
    .split('\n')
    .slice(0, 5)
    .filter((line) => line.trim() !== '');
  if (lines.length < 2) return false;
  return [',', ';', '\t'].some((separator) => {
    const counts = lines.map((line) => parseCsv(line, separator)[0]?.length ?? 0);
    return counts[0]! > 1 && counts.every((count) => count === counts[0]);
  });
}

/** The most frequent separator in the first line of a table. */
export function separatorOf(text: string): string {
  const line = text.slice(0, text.indexOf('\n') + 1 || text.length);
  const count = (separator: string): number => line.split(separator).length;
  return [',', ';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best));
}

/** Reads rows of fields; quoted ones may contain separators, line breaks and doubled quotes. */
export function parseCsv(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = '';
  let isQuoted = false;
  const endField = (): void => {
    row.push(field);
    field = '';
  };
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (isQuoted) {
      if (char !== '"') field += char;
      else if (text[at + 1] === '"') field += text[++at]!;
      else isQuoted = false;
    } else if (char === '"' && field === '') isQuoted = true;
    else if (char === separator) endField();
    else if (char === '\n') {
      endField();
      rows.push(row);
      row = [];
    } else if (char !== '\r') field += char;
  }
  if (field !== '' || row.length > 0) {
    endField();
    rows.push(row);
  }
  return rows;
}
