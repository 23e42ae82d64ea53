import { createHash } from 'node:crypto';

/** The visible data of a client. The data that is read after a cut is compared with it. */
export interface World {
  /** The versions of each `bucket/key`, newest first. */
  readonly objects: Readonly<Record<string, readonly Version[]>>;
  /** The parts of the open upload of each `bucket/key`: the MD5 of their bytes, by number. */
  readonly uploads: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Documents by `bucket?parameter`. */
  readonly settings: Readonly<Record<string, string>>;
  /** The buckets that belong to this client alone. */
  readonly buckets: readonly string[];
}

export interface Version {
  /** MD5 of the bytes, or null for a delete marker. */
  readonly md5: string | null;
  readonly tag?: string;
}

export const nothing: World = { objects: {}, uploads: {}, settings: {}, buckets: [] };

/** Returns a text that is the same for worlds in which the same can be seen. */
export function textOf(world: World): string {
  const sorted = <T>(record: Readonly<Record<string, T>>): [string, T][] =>
    Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify({
    objects: sorted(world.objects)
      .filter(([, versions]) => versions.length > 0)
      .map(([key, versions]) => [key, versions.map(({ md5, tag }) => [md5, tag ?? ''])]),
    uploads: sorted(world.uploads).map(([key, parts]) => [key, sorted(parts)]),
    settings: sorted(world.settings).filter(([, text]) => text !== ''),
    buckets: [...world.buckets].sort(),
  });
}

export function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex');
}

/** Returns the client of a key or bucket, which begins with the client's name. */
export function clientOf(place: string): string | undefined {
  return /^(?:(?:plain|versioned)\/)?(c\d+)[-/?]/.exec(place)?.[1] ?? /^(c\d+)-own$/.exec(place)?.[1];
}

/** Returns the part of the found state that belongs to a client. */
export function partOf(world: World, client: string): World {
  const ours = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).filter(([place]) => clientOf(place) === client));
  return {
    objects: ours(world.objects),
    uploads: ours(world.uploads),
    settings: ours(world.settings),
    buckets: world.buckets.filter((bucket) => clientOf(bucket) === client),
  };
}
