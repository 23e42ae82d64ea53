import type { Version } from './versions.ts';

/**
 * What an attribute of a version belongs to, and so where it goes:
 * - `content`: the bytes. A copy has it, and so has a renamed object.
 * - `object`: the object. A renamed object keeps it; a copy gets its own.
 * - `writer`: what each writer says anew, copies and renames among them.
 * - `place`: follows from the place among the other versions, or from other attributes.
 */
type BelongsTo = 'content' | 'object' | 'writer' | 'place';

/** Every attribute of a version. One that is missing here does not compile; copies and renames follow from it. */
export const versionAttributes = {
  size: 'content',
  md5: 'content',
  partCount: 'content',
  content: 'content',
  checksum: 'content',
  encryption: 'content',
  marker: 'object',
  owner: 'object',
  contentType: 'object',
  storageClass: 'object',
  lastModified: 'object',
  objectAttributes: 'writer',
  renameToken: 'writer',
  tagCount: 'place',
  instance: 'place',
  token: 'place',
  named: 'place',
  foreign: 'place',
  previousVersion: 'place',
  replacedAt: 'place',
} as const satisfies Readonly<Record<keyof Version, BelongsTo>>;

type AttributesOf<Kind extends BelongsTo> = {
  [Name in keyof Version]-?: (typeof versionAttributes)[Name] extends Kind ? Name : never;
}[keyof Version];

/** The attributes of a version that go where its bytes go. */
export function contentOf(version: Version): Pick<Version, AttributesOf<'content'>> {
  return picked(version, ['content']);
}

/** The attributes of a version that it keeps under another key. */
export function renamedOf(version: Version): Pick<Version, AttributesOf<'content' | 'object'>> {
  return picked(version, ['content', 'object']);
}

function picked<Kind extends BelongsTo>(version: Version, kinds: readonly Kind[]): Pick<Version, AttributesOf<Kind>> {
  const wanted: ReadonlySet<BelongsTo> = new Set(kinds);
  const found = Object.entries(version).filter(([name]) => wanted.has(versionAttributes[name as keyof Version]));
  return Object.fromEntries(found) as Pick<Version, AttributesOf<Kind>>;
}
