import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  currentVersionAttributes,
  versionAttributes,
  type BelongsTo,
  type VersionAttribute,
} from '../../../../shared/storage/versions/version-attributes.ts';
import { currentVersionKey } from '../../../../shared/storage/version-changes/version-chain.ts';
import {
  contentOf,
  decodeCurrentVersion,
  decodeVersion,
  encodeCurrentVersion,
  encodeVersion,
  renamedOf,
  systemMetadataOf,
  thingsOf,
  type CurrentVersion,
} from '../../../../shared/storage/versions/versions.ts';
import { ListedVersion } from '../../../../shared/storage/versions/listed-version.ts';
import { byOperator } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { KeyVersions } from '../../../../shared/scrub/key-versions.ts';
import { AttributesView } from '../../../../shared/storage/table/attributes-view.ts';
import { madeAt } from '../../../../shared/storage/table/keys/ids.ts';
import { itemKey } from '../../../../shared/storage/table/keys/keys.ts';
import { decodeState, encodeState, versionOf, type Upload } from '../../../../shared/storage/uploads/upload.ts';
import type { Attributes } from '../../../../shared/ports/key-value-table.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';
import { person, PipelineInProcess } from '../../../support/storage/pipeline-in-process.ts';

const owner = person('alice');

/** Every attribute with another value than its default: a new one that is missing here does not compile. */
const full = {
  instance: `HAAAAAAA${'A'.repeat(24)}`,
  token: 'token',
  named: true,
  marker: false,
  size: 7,
  held: 8,
  md5: Uint8Array.of(1),
  partCount: 2,
  content: { kind: 'manifest', id: 'm' },
  owner: owner.project.id,
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
  previousVersion: `GAAAAAAA${'B'.repeat(24)}`,
  lastModified: 1_700_000_000_000,
  renameToken: 'rename',
  retention: { mode: 'GOVERNANCE', until: 1_700_000_000 },
  legalHold: 'OFF',
  replacedAt: 1_700_000_000_001,
  olderCount: 3,
  olderMarkers: 1,
  olderBytes: 9,
  olderHeld: 10,
  noncurrentNull: 'C'.repeat(32),
} satisfies Required<CurrentVersion>;

type Name = keyof CurrentVersion;
const rows: readonly (readonly [string, VersionAttribute])[] = [
  ...Object.entries(versionAttributes),
  ...Object.entries(currentVersionAttributes),
];
const namesOf = (...kinds: readonly BelongsTo[]): string[] =>
  rows.filter(([, { belongsTo }]) => kinds.includes(belongsTo)).map(([name]) => name);

/** Returns some attributes of a version, comparable whatever the array type of their bytes. */
function some(version: object, names: readonly string[]): unknown {
  const picked = Object.fromEntries(names.map((name) => [name, version[name as keyof typeof version]]));
  return JSON.parse(
    JSON.stringify(picked, (_, value: unknown) => {
      if (value instanceof Uint8Array) return [...value];
      const buffer = value as { type?: unknown; data?: unknown } | null;
      return buffer?.type === 'Buffer' ? buffer.data : value;
    }),
  );
}

describe('the table of the attributes of a version', () => {
  it('gives each its own names in the item', () => {
    const names = rows.flatMap(([, { stored }]) => stored);
    expect(new Set(names).size).toBe(names.length);
  });

  it('is tried here with values that are no defaults', () => {
    const nothing = decodeCurrentVersion({ i: full.instance, r: '', o: '' });
    const same = rows.map(([name]) => name as Name).filter((name) => nothing[name] === full[name]);
    expect(same).toEqual(['instance', 'marker']);
  });

  it('keeps the form of stored items, names and their order included', () => {
    const form = {
      ...{
        i: full.instance,
        r: 'token',
        v: 1,
        s: 7,
        hb: 8,
        e: [1],
        p: 2,
        c: 'mm',
        o: 'alice-id',
        f: 1,
        y: 'text/plain',
      },
      ...{ sc: 'g', k: [...Buffer.from('C'), 1, 2, 3, 4], x: [1], g: 1 },
      ...{ h: { cc: 'no-cache' }, um: { a: 'b' }, tg: [['k', 'v']], a: ['R*'] },
      ...{
        u: full.previousVersion,
        w: full.lastModified,
        rt: 'rename',
        l: 'G1700000000',
        lh: 'OFF',
        t: full.replacedAt,
      },
      ...{ n: 3, nm: 1, nb: 9, nh: 10, z: full.noncurrentNull },
    };
    const item = encodeCurrentVersion(full);
    const names = Object.keys(item).filter((name) => name in form);
    expect(JSON.stringify(some(item, names))).toBe(JSON.stringify(form));
    expect(encodeCurrentVersion({ ...full, marker: true, size: 0 })).toMatchObject({ m: 1 });
  });
});

describe('every attribute', () => {
  it('is kept by the item of a current version, and of a noncurrent one', () => {
    const all = rows.map(([name]) => name);
    expect(some(decodeCurrentVersion(encodeCurrentVersion(full)), all)).toEqual(some(full, all));
    const own = Object.keys(versionAttributes);
    expect(some(decodeVersion(encodeVersion(full)), own)).toEqual(some(full, own));
    const marker = { ...full, marker: true, size: 0 };
    expect(some(decodeVersion(encodeVersion(marker)), own)).toEqual(some(marker, own));
  });

  it.each([0, 1, -1, 999])('keeps a time %i ms after that of the instance', (later) => {
    const timed = { ...full, lastModified: madeAt(full.instance) + later };
    const item = encodeCurrentVersion(timed);
    expect([decodeCurrentVersion(item).lastModified, 'w' in item]).toEqual([timed.lastModified, later !== 0]);
  });

  it('that listings of objects show is read in place', () => {
    const names = ['marker', 'size', 'partCount', 'content', 'owner', 'storageClass', 'lastModified'] as const;
    const show = (version: CurrentVersion): ListedVersion => {
      const item = Object.entries(encodeCurrentVersion(version)).filter(([name]) =>
        ListedVersion.columns.includes(name),
      );
      const view = new AttributesView(ListedVersion.columns);
      return new ListedVersion(view.show({ key: { pk: 'head/b', sk: 'key' }, attributes: Object.fromEntries(item) }));
    };
    const plain: CurrentVersion = { ...full, partCount: undefined, storageClass: undefined, lastModified: 0 };
    for (const version of [full, { ...full, marker: true, size: 0 }, { ...plain, owner: randomUUID() }]) {
      const timed = { ...version, lastModified: version.lastModified || madeAt(version.instance) };
      const listed = show(timed);
      expect(some(Object.fromEntries(names.map((name) => [name, listed[name]])), names)).toEqual(some(timed, names));
      const md5 = new Uint8Array(16);
      expect(listed.copyMd5(md5)).toBe(full.md5.length);
      expect(md5[0]).toBe(full.md5[0]);
      expect(full.checksum).toMatchObject(listed.checksum!);
      expect(listed.key).toBe('key');
    }
  });

  it('that an upload knows from its beginning comes to its object', () => {
    const names = namesOf('metadata');
    const upload: Upload = {
      ...{ ...systemMetadataOf(full), owner: 'o', initiator: 'o', storageClass: full.storageClass },
      ...{
        objectAttributes: full.objectAttributes,
        encryption: full.encryption,
        checksum: undefined,
        asked: undefined,
      },
      ...{ id: 'u', bucketId: 'b', key: 'k', initiated: 1, token: 't', releases: 0, held: 0 },
      state: 'open',
      ...{ result: undefined, picked: undefined },
    };
    const item = encodeState(upload);
    const result = { md5: full.md5, partCount: 2, versionId: 'null', checksum: undefined };
    expect(some(versionOf(decodeState('u', item), 7, result, 'm'), names)).toEqual(some(full, names));
    // An upload's item has further attributes, whose names must not collide with those of a version.
    const without = Object.fromEntries(names.map((name) => [name, undefined]));
    const others = Object.keys(encodeState({ ...upload, ...without }));
    const stored = rows.filter(([name]) => names.includes(name)).flatMap(([, row]) => row.stored);
    expect(others.filter((name) => stored.includes(name))).toEqual([]);
  });

  it('that belongs to the bytes, or to the object, is kept by copies and renamed objects', async () => {
    expect(Object.keys(contentOf(full))).toEqual(namesOf('content'));
    expect(Object.keys(renamedOf(full)).sort()).toEqual(namesOf('content', 'metadata', 'object').sort());

    const service = new PipelineInProcess([owner]);
    await service.services.buckets.create(byOperator, 'bucket', owner.project.id, 1);
    const bucket = await service.services.buckets.load('bucket');
    const alone = { ...full, foreign: undefined, previousVersion: undefined, replacedAt: undefined };
    const counts = { olderCount: 0, olderMarkers: 0, olderBytes: 0, olderHeld: 0, noncurrentNull: undefined };
    const source = encodeCurrentVersion({ ...alone, ...counts, named: false });
    await service.table.write([{ key: currentVersionKey(bucket.id, 'source'), put: source }]);

    const from = { 'x-amz-copy-source': '/bucket/source' };
    const encrypted = { 'x-amz-server-side-encryption': 'AES256' };
    const copied = await service.send(
      { method: 'PUT', path: '/bucket/copy', headers: { ...from, ...encrypted } },
      owner,
    );
    expect(copied.status, copied.text).toBe(200);
    const rename = { 'x-amz-rename-source': '/bucket/source' };
    const renamed = await service.send(
      { method: 'PUT', path: '/bucket/renamed', query: 'renameObject=', headers: rename },
      owner,
    );
    expect(renamed.status, renamed.text).toBe(200);

    const present = async (key: string): Promise<CurrentVersion> =>
      decodeCurrentVersion((await service.table.get(currentVersionKey(bucket.id, key)))!);
    const ofCopy = namesOf('content', 'metadata');
    expect(some(await present('copy'), ofCopy)).toEqual(some(full, ofCopy));
    const ofRenamed = namesOf('content', 'metadata', 'object');
    expect(some(await present('renamed'), ofRenamed)).toEqual(some(full, ofRenamed));
  });

  it('that refers to something is seen by the release queue and by a scrub', () => {
    expect(thingsOf(encodeCurrentVersion(full))).toEqual(['mm']);
    const long = encodeCurrentVersion({ ...full, objectAttributes: { details: 'id' } });
    expect(thingsOf(long)).toEqual(['mm', 'did']);
  });

  it('survives the repair of a version chain', async () => {
    const table = new MemoryTable();
    const older = { ...full, instance: full.previousVersion, named: false, token: 'other', foreign: undefined };
    const items: readonly (readonly [ReturnType<typeof currentVersionKey>, Attributes])[] = [
      [
        currentVersionKey('bucket', 'key'),
        encodeCurrentVersion({ ...full, previousVersion: undefined, replacedAt: undefined }),
      ],
      [itemKey.noncurrentVersion('bucket', 'key', older.instance), encodeVersion(older)],
    ];
    await table.write(items.map(([key, put]) => ({ key, put })));
    const versions = new KeyVersions(table, 'bucket', 'key');
    const damage = await versions.examine(() => undefined);
    if (damage === undefined || damage === 'busy') throw new Error('no damage is seen');
    const along = { key: { pk: 'along', sk: '-' }, put: {} };
    expect(await versions.mend(damage, { token: () => 'new', along })).toBe(true);
    const kept = namesOf('content', 'metadata', 'object', 'writer', 'derived');
    for (const [key] of items) expect(some(decodeVersion((await table.get(key))!), kept)).toEqual(some(full, kept));
  });
});
