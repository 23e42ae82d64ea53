import { etagOf, type Version } from '../../../shared/storage/versions/versions.ts';
import type { SourceVersion } from './source-listing.ts';

/** How versions of a bucket compare with those of the source. */
export interface Comparison<Held> {
  /** Tells whether a version is one of the source, by what both tell of it. */
  readonly isSame: (source: SourceVersion, held: Held) => boolean;
  /** Tells whether a version that the source does not have is replaced by putting those that are missing. */
  readonly isReplaced: (held: Held, missing: readonly SourceVersion[], source: readonly SourceVersion[]) => boolean;
}

/** What makes a key the same as at the source. */
export interface KeyPlan<Held> {
  /** Versions to be put on top, oldest first. */
  readonly missing: readonly SourceVersion[];
  /** Versions that cannot be put any more, as newer ones are there. */
  readonly passedOver: readonly SourceVersion[];
  /** Versions that the source does not have, newest first. Those that a put replaces are not among them. */
  readonly extra: readonly Held[];
  /** The newest of them is above what would be put: somebody has written there meanwhile. */
  readonly isWrittenThere: boolean;
  /** The number of versions that are there already. */
  readonly same: number;
}

/**
 * Compares the versions of a key with those of the source. Versions are put on top of those that are there, in their order, so what is
 * common to both needs no copy, and a run that was killed goes on where it ended.
 * @param source oldest first
 * @param held oldest first
 */
export function planKey<Held>(
  source: readonly SourceVersion[],
  held: readonly Held[],
  comparison: Comparison<Held>,
): KeyPlan<Held> {
  const common = new Set<Held>();
  const absent: number[] = [];
  let from = 0;
  let reached = 0;
  for (const [at, version] of source.entries()) {
    const found = held.findIndex((one, index) => index >= from && comparison.isSame(version, one));
    if (found < 0) absent.push(at);
    else {
      common.add(held[found]!);
      from = found + 1;
      reached = at;
    }
  }
  const [passedOver, missing] = [true, false].map((isBelow) =>
    absent.filter((at) => at < reached === isBelow).map((at) => source[at]!),
  ) as [SourceVersion[], SourceVersion[]];
  const extra = held.filter((one) => !common.has(one) && !comparison.isReplaced(one, missing, source)).toReversed();
  return {
    ...{ missing, passedOver, extra },
    isWrittenThere: extra.length > 0 && extra[0] === held.at(-1),
    same: common.size,
  };
}

/** Tells whether a version of the source has an id of its own. */
export function isNamed({ id }: Pick<SourceVersion, 'id'>): boolean {
  return id !== undefined && id !== 'null';
}

/** Compares versions that an import gave all that the source tells of them. */
export const comparedHere: Comparison<Version> = {
  isSame: (source, here) =>
    source.marker === here.marker &&
    source.lastModified === here.lastModified &&
    isNamed(source) === here.named &&
    source.size === here.size &&
    (here.marker || parsedEtag(source.etag) === undefined || source.etag === etagOf(here)),
  // A null version replaces the former one of the key, unless that is newer than all of the source's.
  isReplaced: (here, missing, source) =>
    !here.named && missing.some((one) => !isNamed(one)) && here.lastModified <= source.at(-1)!.lastModified,
};

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
