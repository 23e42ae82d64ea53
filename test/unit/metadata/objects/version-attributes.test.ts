import { describe, expect, it } from 'vitest';
import { contentOf, renamedOf, versionAttributes } from '../../../../shared/metadata/objects/version-attributes.ts';
import {
  decodeCurrentVersion,
  decodeListed,
  encodeCurrentVersion,
  listedAttributes,
  type CurrentVersion,
} from '../../../../shared/metadata/objects/versions.ts';

/** Every attribute with another value than its default: a new one that is missing here does not compile. */
const full = {
  instance: 'A'.repeat(32),
  token: 'token',
  named: true,
  marker: false,
  size: 7,
  md5: Uint8Array.of(1),
  partCount: 2,
  content: { kind: 'manifest', id: 'm' },
  owner: 'someone',
  foreign: true,
  contentType: 'text/plain',
  storageClass: 'GLACIER_IR',
  checksum: { algorithm: 'CRC32', type: 'COMPOSITE', value: Uint8Array.of(1, 2, 3, 4) },
  encryption: { kind: 'managed' },
  tagCount: 1,
  objectAttributes: {
    headers: { cacheControl: 'no-cache' },
    metadata: { a: 'b' },
    tags: [['k', 'v']],
    grants: ['R*'],
  },
  previousVersion: 'B'.repeat(32),
  lastModified: 1_700_000_000_000,
  renameToken: 'rename',
  replacedAt: 1_700_000_000_001,
  olderCount: 3,
  olderMarkers: 1,
  olderBytes: 9,
  noncurrentNull: 'C'.repeat(32),
} satisfies Required<CurrentVersion>;

describe('the attributes of a version', () => {
  it('are all kept by the table', () => {
    const decoded = decodeCurrentVersion(encodeCurrentVersion(full));
    expect({ ...decoded, checksum: { ...decoded.checksum, value: Uint8Array.from(decoded.checksum!.value) } }).toEqual(
      full,
    );
  });

  it('are read by a listing only where it shows them', () => {
    const item = encodeCurrentVersion(full);
    const projected = Object.fromEntries(Object.entries(item).filter(([name]) => listedAttributes.has(name)));
    expect(decodeListed(projected)).toEqual(decodeListed(item));
  });

  it('go with the bytes, or with the object, as the table says', () => {
    const named = (...kinds: string[]): string[] =>
      Object.entries(versionAttributes)
        .filter(([, kind]) => kinds.includes(kind))
        .map(([name]) => name)
        .sort();
    expect(Object.keys(contentOf(full)).sort()).toEqual(named('content'));
    expect(Object.keys(renamedOf(full)).sort()).toEqual(named('content', 'object'));
    expect(renamedOf(full)).toEqual(
      expect.objectContaining({ size: 7, owner: 'someone', lastModified: 1_700_000_000_000 }),
    );
  });
});
