import type { Clock } from '../../ports/clock.ts';
import type { Attributes, Item, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { timedId } from '../table/keys/ids.ts';
import { itemKey } from '../table/keys/keys.ts';
import { putBeforeCommit, settled } from '../table/settled.ts';

/** A part of an object that was uploaded in parts. */
export interface ManifestPart {
  /** The blob with its bytes; '' if it is empty. */
  readonly blob: string;
  readonly size: number;
  /** The part's checksum, if the upload has a checksum algorithm. */
  readonly checksum: Uint8Array | undefined;
  /** The part number, from 1, in ascending order. Default: the position among the parts. */
  readonly number?: number;
}

/** A part with its offset in the object. */
export interface PlacedPart extends ManifestPart {
  readonly number: number;
  readonly firstByte: number;
}

/** The maximum number of parts in an item: at some 80 bytes each, well below DynamoDB's 400 KB. */
const partsPerSlice = 3000;

/** The start of a slice. */
interface SliceStart {
  readonly firstPart: number;
  readonly firstByte: number;
}

/**
 * The manifests of objects in several blobs. A manifest is a directory and slices of parts, whose items are written before the
 * version that refers to them, and never changed.
 */
export class Manifests {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;

  constructor(deps: { table: KeyValueTable; clock: Clock; randomness: Randomness }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
  }

  /** Writes a manifest. @returns its id */
  async create(parts: readonly ManifestPart[]): Promise<string> {
    const id = timedId(this.#clock.now(), this.#randomness);
    const slices = sliced(place(parts));
    for (const slice of slices) {
      const { firstByte, firstPart } = startOf(slice);
      await putBeforeCommit(this.#table, itemKey.manifestSlice(id, firstByte, firstPart), encodeSlice(slice));
    }
    const starts = slices.map(([first]) => [first!.number, first!.firstByte]);
    await putBeforeCommit(this.#table, itemKey.manifest(id), { parts: parts.length, size: totalSize(parts), starts });
    return id;
  }

  /** Returns the parts in order: all, or those with bytes from `first` to `last` (inclusive). */
  async parts(id: string, range?: { readonly first: number; readonly last: number }): Promise<readonly PlacedPart[]> {
    const starts = await this.#starts(id);
    const wanted = starts.filter(
      ({ firstByte }, at) =>
        range === undefined || (firstByte <= range.last && (starts[at + 1]?.firstByte ?? Infinity) > range.first),
    );
    const parts = (await Promise.all(wanted.map((start) => this.#slice(id, start)))).flat();
    if (range === undefined) return parts;
    return parts.filter(({ firstByte, size }) => firstByte <= range.last && firstByte + size > range.first);
  }

  /** Returns the part with a number, or undefined. */
  async part(id: string, number: number): Promise<PlacedPart | undefined> {
    const start = (await this.#starts(id)).findLast(({ firstPart }) => firstPart <= number);
    return start && (await this.#slice(id, start)).find((part) => part.number === number);
  }

  /** Removes the items of a manifest, but not its blobs. @throws S3Error ServiceUnavailable: repeat it */
  async remove(id: string): Promise<void> {
    for (const { firstByte, firstPart } of await this.#starts(id))
      await settled(this.#table.write([{ key: itemKey.manifestSlice(id, firstByte, firstPart), delete: true }]));
    // Last, since a repetition finds the slices through it.
    await settled(this.#table.write([{ key: itemKey.manifest(id), delete: true }]));
  }

  async #starts(id: string): Promise<readonly SliceStart[]> {
    const directory = await this.#table.get(itemKey.manifest(id));
    const starts = (directory?.['starts'] ?? []) as readonly (readonly [number, number])[];
    return starts.map(([firstPart, firstByte]) => ({ firstPart, firstByte }));
  }

  async #slice(id: string, start: SliceStart): Promise<readonly PlacedPart[]> {
    const item = await this.#table.get(itemKey.manifestSlice(id, start.firstByte, start.firstPart));
    return item === undefined ? [] : decodeSlice(item, start);
  }
}

function startOf([first]: readonly PlacedPart[]): SliceStart {
  return { firstPart: first!.number, firstByte: first!.firstByte };
}

function place(parts: readonly ManifestPart[]): readonly PlacedPart[] {
  let firstByte = 0;
  return parts.map((part, at) => {
    const placed = { ...part, number: part.number ?? at + 1, firstByte };
    firstByte += part.size;
    return placed;
  });
}

function sliced(parts: readonly PlacedPart[]): readonly (readonly PlacedPart[])[] {
  const count = Math.ceil(parts.length / partsPerSlice);
  return Array.from({ length: count }, (_, at) => parts.slice(at * partsPerSlice, (at + 1) * partsPerSlice));
}

function totalSize(parts: readonly ManifestPart[]): number {
  return parts.reduce((sum, { size }) => sum + size, 0);
}

/** Encodes parts in columns: a list of lists would take three bytes more for each part. */
function encodeSlice(parts: readonly PlacedPart[]): Attributes {
  const hasChecksums = parts.every(({ checksum }) => checksum !== undefined);
  const hasGaps = parts.some(({ number }, at) => number !== parts[0]!.number + at);
  return {
    b: parts.map(({ blob }) => blob),
    s: parts.map(({ size }) => size),
    ...(hasChecksums && { k: parts.map(({ checksum }) => checksum!) }),
    ...(hasGaps && { n: parts.map(({ number }) => number) }),
  };
}

function decodeSlice(item: Item['attributes'], { firstPart, firstByte }: SliceStart): readonly PlacedPart[] {
  const blobs = item['b'] as readonly string[];
  const sizes = item['s'] as readonly number[];
  const checksums = item['k'] as readonly Uint8Array[] | undefined;
  const numbers = item['n'] as readonly number[] | undefined;
  let at = firstByte;
  return blobs.map((blob, index) => {
    const size = sizes[index]!;
    const part = {
      blob,
      size,
      checksum: checksums?.[index],
      number: numbers?.[index] ?? firstPart + index,
      firstByte: at,
    };
    at += size;
    return part;
  });
}
