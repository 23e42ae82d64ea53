import { etagOf, type Version } from '../../../shared/storage/versions/versions.ts';
import type { SourceVersion } from './source-listing.ts';

/** What makes a key the same as at the source. */
export interface KeyPlan {
  /** Versions to be put on top, oldest first. */
  readonly missing: readonly SourceVersion[];
  /** Versions that cannot be put any more, as newer ones are there. */
  readonly passedOver: readonly SourceVersion[];
  /** Versions that the source does not have, newest first. Those that a put replaces are not among them. */
  readonly extra: readonly Version[];
  /** The newest of them is above what would be put: somebody has written here meanwhile. */
  readonly isWrittenHere: boolean;
  /** The number of versions that are there already. */
  readonly same: number;
}

/**
 * Compares the versions of a key here with those of the source. Versions are put on top of those that are there, in their order, so what is
 * common to both needs no copy, and a run that was killed goes on where it ended.
 * @param source oldest first
 * @param here oldest first
 */
export function planKey(source: readonly SourceVersion[], here: readonly Version[]): KeyPlan {
  const passedOver: SourceVersion[] = [];
  const others: Version[] = [];
  let next = 0;
  for (const version of here) {
    let at = next;
    while (at < source.length && !isSame(source[at]!, version)) at += 1;
    if (at === source.length) others.push(version);
    else {
      passedOver.push(...source.slice(next, at));
      next = at + 1;
    }
  }
  const missing = source.slice(next);
  // A null version replaces the former one of the key, unless that is newer than all of the source's.
  const newNull = missing.some((one) => !isNamed(one));
  const newest = source.at(-1)?.lastModified ?? -Infinity;
  const extra = others.filter((one) => one.named || !newNull || one.lastModified > newest);
  const top = here.at(-1);
  return {
    missing,
    passedOver,
    extra: extra.toReversed(),
    isWrittenHere: top !== undefined && extra.includes(top),
    same: here.length - others.length,
  };
}

/** Tells whether a version of the source has an id of its own. */
export function isNamed({ id }: Pick<SourceVersion, 'id'>): boolean {
  return id !== undefined && id !== 'null';
}

function isSame(source: SourceVersion, here: Version): boolean {
  return (
    source.marker === here.marker &&
    source.lastModified === here.lastModified &&
    isNamed(source) === here.named &&
    source.size === here.size &&
    (here.marker || parsedEtag(source.etag) === undefined || source.etag === etagOf(here))
  );
}

/** An ETag that is an MD5: of the bytes, or of the MD5s of so many parts. */
export interface Md5Etag {
  readonly md5: Buffer;
  readonly partCount: number | undefined;
}

/** Returns the parts of an ETag, or undefined for one of another kind, which cannot be kept. */
export function parsedEtag(etag: string): Md5Etag | undefined {
  const [, hex, parts] = /^([0-9a-f]{32})(?:-(\d{1,5}))?$/.exec(etag) ?? [];
  if (hex === undefined || parts === '0') return undefined;
  return { md5: Buffer.from(hex, 'hex'), partCount: parts === undefined ? undefined : Number(parts) };
}
