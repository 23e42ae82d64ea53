import type { Attribute } from '../../ports/key-value-table.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Encodes a canonical id: a UUID as 16 bytes, one that an operator chose unchanged. */
export function encodeOwner(owner: string): Attribute {
  return uuid.test(owner) ? Buffer.from(owner.replaceAll('-', ''), 'hex') : owner;
}

/** The most recently decoded owner, as the versions of a listing have few owners. */
let lastOwner: { readonly stored: Uint8Array; readonly id: string } = { stored: new Uint8Array(), id: '' };

/** Decodes what {@link encodeOwner} encoded. */
export function decodeOwner(stored: Attribute | undefined): string {
  if (!(stored instanceof Uint8Array)) return stored as string;
  if (!stored.every((byte, at) => byte === lastOwner.stored[at])) {
    const hex = Buffer.from(stored).toString('hex');
    const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    lastOwner = { stored, id };
  }
  return lastOwner.id;
}
