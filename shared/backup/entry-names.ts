/*
 * The names of entries: `t<name of its content>` for a chunk of the table, `b<reference>` for a blob of one piece, and
 * `b<reference>.<number>.<count>` for a piece of a larger blob.
 */

/** The size of a piece of a blob, in bytes. The last piece of a blob may be smaller. */
export const pieceBytes = 4 * 1024 * 1024;

/** What an entry is. */
export type EntryName =
  | { readonly kind: 'table' }
  | { readonly kind: 'blob'; readonly ref: string; readonly piece: number; readonly of: number };

export function tableEntry(contentName: string): string {
  return `t${contentName}`;
}

/** Returns the number of pieces of a blob. */
export function piecesOf(size: number): number {
  return Math.max(1, Math.ceil(size / pieceBytes));
}

export function blobEntry(ref: string, piece: number, of: number): string {
  return of === 1 ? `b${ref}` : `b${ref}.${piece}.${of}`;
}

export function parseEntryName(name: string): EntryName {
  if (name.startsWith('t')) return { kind: 'table' };
  const [ref, piece = '0', of = '1'] = name.slice(1).split('.');
  return { kind: 'blob', ref: ref!, piece: Number(piece), of: Number(of) };
}
