/** The last segment of a key: `a/b/c.txt` → `c.txt`, `a/b/` → `b`. */
export function baseName(key: string): string {
  const end = key.endsWith('/') ? key.length - 1 : key.length;
  return key.slice(key.lastIndexOf('/', end - 1) + 1, end);
}

/** The folder of a key: `a/b/c.txt` → `a/b/`, `c.txt` → the empty text. */
export function folderOf(key: string): string {
  const end = key.endsWith('/') ? key.length - 1 : key.length;
  return key.slice(0, key.lastIndexOf('/', end - 1) + 1);
}

/** Reads a path as it is typed or pasted, also as a URI: `bucket/a/b`, `s3://bucket/a/b`. */
export function pathOf(text: string): { readonly bucket: string; readonly path: string } {
  const [bucket = '', ...path] = text
    .trim()
    .replace(/^(?:s3:\/\/|\/)/i, '')
    .split('/');
  return { bucket, path: path.join('/') };
}

/**
 * Marks that join or part letters, where writing needs them: within emoji, and between letters of scripts that have them, such as Arabic and
 * Devanagari. Between others they would make two names look the same.
 */
const joiners =
  /(?<=\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{L}\p{M}])(?<![\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}])[\u200c\u200d]/gu;

/** Makes invisible characters visible: control characters as symbols, and marks that change the direction of text. */
export function visibleName(name: string): string {
  const meant = new Set([...name.matchAll(joiners)].map(({ index }) => index));
  return name.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (char, index: number) => {
    if (meant.has(index)) return char;
    const code = char.codePointAt(0)!;
    return code < 32 ? String.fromCodePoint(0x2400 + code) : '\ufffd';
  });
}

export type Kind = 'folder' | 'image' | 'audio' | 'video' | 'text' | 'archive' | 'document' | 'code' | 'file';

const kinds = new Map<string, Kind>(
  (
    [
      ['image', 'png jpg jpeg gif webp avif svg bmp ico tif tiff heic'],
      ['audio', 'mp3 ogg oga wav flac m4a aac opus'],
      ['video', 'mp4 webm mov mkv avi m4v ogv'],
      ['text', 'txt md log csv tsv ini conf rtf'],
      ['archive', 'zip gz tgz tar bz2 xz zst 7z rar jar'],
      ['document', 'pdf doc docx odt xls xlsx ods ppt pptx odp epub'],
      ['code', 'js ts jsx tsx mjs css html htm xml json yaml yml toml py rb go rs java c h cpp sh sql php'],
    ] as const
  ).flatMap(([kind, suffixes]) => suffixes.split(' ').map((suffix) => [suffix, kind] as const)),
);

/** Returns the kind of content that a name suggests. Used for icons only: previews decide by the bytes. */
export function kindOf(key: string): Kind {
  if (key.endsWith('/')) return 'folder';
  return kinds.get(suffixOf(key)) ?? 'file';
}

const suffixOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1).toLowerCase();

const types = new Map(
  Object.entries({
    css: 'text/css',
    csv: 'text/csv',
    gif: 'image/gif',
    html: 'text/html',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    js: 'text/javascript',
    json: 'application/json',
    md: 'text/markdown',
    mp3: 'audio/mpeg',
    mp4: 'video/mp4',
    pdf: 'application/pdf',
    png: 'image/png',
    svg: 'image/svg+xml',
    txt: 'text/plain',
    wasm: 'application/wasm',
    webp: 'image/webp',
    xml: 'application/xml',
    zip: 'application/zip',
  }),
);

/** The Content-Type of an upload: that of the browser, or else the one that the name suggests. */
export function contentTypeOf(name: string, type: string): string {
  if (type !== '') return type;
  return types.get(suffixOf(name)) ?? 'application/octet-stream';
}

/** The longest file name of file systems in bytes, less the suffix that browsers add to existing names: ` (1)`. */
const maxNameBytes = 240;

/** Returns the name under which an object is saved: its last segment, shortened before the suffix if it is too long for a file. */
export function savedName(key: string): string {
  const name = baseName(key).toWellFormed();
  const bytes = (text: string): number => new TextEncoder().encode(text).length;
  if (bytes(name) <= maxNameBytes) return name;
  const suffix = /\.[\w-]{1,16}$/.exec(name)?.[0] ?? '';
  let kept = '';
  for (const char of name) {
    if (bytes(kept + char + suffix) > maxNameBytes) break;
    kept += char;
  }
  return kept + suffix;
}

/** A name that is not taken: `report.pdf` → `report (2).pdf`. */
export function numbered(key: string, number: number): string {
  const base = baseName(key);
  const dot = base.lastIndexOf('.');
  const folder = folderOf(key);
  if (key.endsWith('/')) return `${folder}${base} (${number})/`;
  return dot > 0 ? `${folder}${base.slice(0, dot)} (${number})${base.slice(dot)}` : `${folder}${base} (${number})`;
}
