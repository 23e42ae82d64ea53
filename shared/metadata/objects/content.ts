/** Where a version's bytes are: in one blob, or in the blobs of a manifest. */
export type Content =
  { readonly kind: 'blob'; readonly ref: string } | { readonly kind: 'manifest'; readonly id: string };

/** Encodes a content: `b<blob ref>` for one blob, `m<id>` for a manifest. */
export function encodeContent(content: Content): string {
  return content.kind === 'blob' ? `b${content.ref}` : `m${content.id}`;
}

/** Decodes what {@link encodeContent} encoded. */
export function decodeContent(stored: string): Content {
  const rest = stored.slice(1);
  return stored.startsWith('b') ? { kind: 'blob', ref: rest } : { kind: 'manifest', id: rest };
}
