import { blobEntry, parseEntryName } from './entry-names.ts';

/** The place of an entry is one number: that of its pack among those that are known, times this, and that of the entry. */
const perPack = 65_536;

/** A pack that is known. */
interface KnownPack {
  /** Undefined while it is being written. */
  readonly id: string | undefined;
  readonly size: number;
}

/** The entries of all packs, in memory, some 200 bytes for each; and which of them the current backup uses. */
export class PackIndex {
  readonly #packs: KnownPack[] = [];
  readonly #places = new Map<string, number>();
  /** The number of pieces of each blob that has more than one. */
  readonly #pieces = new Map<string, number>();
  /** The entries that the backup uses, a bit each, by the number of their pack. */
  readonly #used = new Map<number, Buffer>();
  #blobs = 0;

  /** Adds a pack. */
  add(id: string, size: number, names: Iterable<string>): void {
    const pack = this.#packs.push({ id, size }) - 1;
    let entry = 0;
    for (const name of names) this.addEntry(pack, entry++, name);
  }

  /** Adds a pack that is being filled. @returns its number */
  addOpen(): number {
    return this.#packs.push({ id: undefined, size: 0 }) - 1;
  }

  addEntry(pack: number, entry: number, name: string): void {
    this.#places.set(name, pack * perPack + entry);
    const parsed = parseEntryName(name);
    if (parsed.kind === 'blob' && parsed.of > 1) this.#pieces.set(parsed.ref, parsed.of);
  }

  /** States that a pack that was open is written. */
  written(pack: number, id: string, size: number): void {
    this.#packs[pack] = { id, size };
  }

  /** Marks an entry as used. @returns false if it is not known */
  use(name: string): boolean {
    const place = this.#places.get(name);
    if (place === undefined) return false;
    const pack = Math.floor(place / perPack);
    const entry = place % perPack;
    const [byte, bit] = [entry >> 3, 1 << (entry & 7)];
    let used = this.#used.get(pack) ?? Buffer.alloc(16);
    if (byte >= used.length) used = Buffer.concat([used], 2 * byte);
    this.#used.set(pack, used);
    if ((used[byte]! & bit) !== 0) return true;
    used[byte]! |= bit;
    const parsed = parseEntryName(name);
    if (parsed.kind === 'blob' && parsed.piece === 0) this.#blobs += 1;
    return true;
  }

  /** Marks a blob as used if all of it is known. */
  useBlob(ref: string): boolean {
    const of = this.#pieces.get(ref) ?? 1;
    const names = Array.from({ length: of }, (_, piece) => blobEntry(ref, piece, of));
    if (!names.every((name) => this.#places.has(name))) return false;
    for (const name of names) this.use(name);
    return true;
  }

  /** Returns what the backup uses: the number of blobs, the packs, each with its entries, and their size. */
  used(): { readonly blobs: number; readonly packs: readonly UsedPack[]; readonly size: number } {
    const used = [...this.#used].map(([pack, bits]) => ({ ...this.#packs[pack]!, bits }));
    return {
      blobs: this.#blobs,
      packs: used.map(({ id, bits }) => [id!, trimmed(bits).toString('base64')]),
      size: used.reduce((sum, { size }) => sum + size, 0),
    };
  }
}

/** A pack that a backup uses: its id, and its entries, a bit each, from the lowest bit of the first byte, in base64. */
export type UsedPack = readonly [id: string, entries: string];

/** Returns a function that tells whether a backup uses an entry. */
export function usesOf([, entries]: UsedPack): (entry: number) => boolean {
  const bits = Buffer.from(entries, 'base64');
  return (entry) => ((bits[entry >> 3] ?? 0) & (1 << (entry & 7))) !== 0;
}

function trimmed(bits: Buffer): Buffer {
  let end = bits.length;
  while (end > 0 && bits[end - 1] === 0) end -= 1;
  return bits.subarray(0, end);
}
