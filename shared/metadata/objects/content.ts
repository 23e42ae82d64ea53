/** The location of a version's bytes: one blob, or the blobs of a manifest. */
export type Content =
  { readonly kind: 'blob'; readonly ref: string } | { readonly kind: 'manifest'; readonly id: string };

/** Encodes a content as `b<blob ref>` for a blob, `m<id>` for a manifest. */
export function encodeContent(content: Content): string {
  return content.kind === 'blob' ? `b${content.ref}` : `m${content.id}`;
}

/** Decodes what {@link encodeContent} encoded. */
export function decodeContent(stored: string): Content {
  const rest = stored.slice(1);
  return stored.startsWith('b') ? { kind: 'blob', ref: rest } : { kind: 'manifest', id: rest };
}
