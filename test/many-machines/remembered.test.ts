import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Accounts } from '../../shared/accounts/accounts.ts';
import { PostgresTable, type PostgresTableOptions } from '../../shared/adapters/postgres/postgres-table.ts';
import type { BlobStore } from '../../shared/ports/blob-store.ts';
import { isRemembered } from '../../shared/storage/table/keys/keys.ts';
import { RecentTable } from '../../shared/storage/table/recent-table.ts';
import { MemoryBlobs } from '../model/memory-blobs.ts';
import { iamForm } from '../support/clients/iam.ts';
import type { Key, Unsigned } from '../support/clients/signer.ts';
import { eventually } from '../support/runs/eventually.ts';
import { openSecrets, SetClock } from '../support/storage/fixed-deps.ts';
import { person, PipelineInProcess, type Answered } from '../support/storage/pipeline-in-process.ts';
import { startPostgres, type Postgres } from '../support/storage/postgres.ts';

const root: Key = { accessKeyId: 'ROOT', secretAccessKey: 'root secret' };
const user: Key = { accessKeyId: 'USER', secretAccessKey: 'secret of the user' };
/** For how long a server may go by what it remembers of who asks, and of a bucket, in milliseconds: docs/many-machines.md */
const rememberedTime = { caller: 2000, bucket: 1000 };

/** A server: its own connections, its own memory. */
class Server {
  readonly inner: PostgresTable;
  readonly #pipeline: PipelineInProcess<RecentTable>;
  readonly accounts: Accounts;

  constructor(inner: PostgresTable, blobs: MemoryBlobs, clock: SetClock) {
    const table = new RecentTable(inner, clock);
    this.inner = inner;
    this.accounts = new Accounts({ table, secrets: openSecrets, clock });
    const { accounts } = this;
    const before = (): BlobStore => blobs.of('service', () => clock.now());
    this.#pipeline = new PipelineInProcess([], { table, before, clock, projects: accounts, accessKeys: accounts });
  }

  send(request: Unsigned, key?: Key): Promise<Answered> {
    return this.#pipeline.send(request, key && { ...person('ci'), key });
  }

  /** Returns the status, or the code of an error. */
  async outcome(request: Unsigned, key?: Key): Promise<number | string> {
    const { status, code } = await this.send(request, key);
    return code ?? status;
  }
}

describe('what a server remembers', () => {
  let postgres: Postgres;
  let clock: SetClock;
  let one: Server;
  let other: Server;
  let opened = 0;
  let schema: string;
  let blobs: MemoryBlobs;
  const tables: PostgresTable[] = [];
  const bucket = '/shop-data';
  const object: Unsigned = { path: `${bucket}/key` };
  const put: Unsigned = { method: 'PUT', path: `${bucket}/new`, body: 'x' };
  /** Takes every right from the user. */
  const withdrawal = iamForm({
    ...{ Action: 'PutUserPolicy', UserName: 'user', PolicyName: 'none' },
    PolicyDocument: JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Deny', Action: 's3:*', Resource: '*' }],
    }),
  });

  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.stop());

  beforeEach(async () => {
    clock = new SetClock(Date.now());
    blobs = new MemoryBlobs();
    schema = `remembered_${(opened += 1)}`;
    // They do not tell each other of changes, as if the notifications were lost.
    [one, other] = [await open(), await open()];
    const users = [
      { name: 'root', keys: [root] },
      { name: 'user', keys: [user] },
    ];
    await one.accounts.ensure({ project: 'shop@acme', id: 'shop', displayName: 'shop', users });
    expect(await one.outcome({ method: 'PUT', path: bucket }, root)).toBe(200);
    expect(await one.outcome({ method: 'PUT', path: object.path, body: 'x' }, root)).toBe(200);
  });
  afterEach(() => Promise.all(tables.splice(0).map((table) => table.close())));

  async function open(options: Partial<PostgresTableOptions> = {}): Promise<Server> {
    const table = await PostgresTable.open({ url: postgres.url, schema, ...options });
    tables.push(table);
    return new Server(table, blobs, clock);
  }

  it('of who asks ends in time: a right that was withdrawn is gone at once on that server, and soon on others', async () => {
    for (const server of [one, other]) expect(await server.outcome(object, user)).toBe(200);
    expect(await one.outcome(withdrawal, root)).toBe(200);
    expect(await one.outcome(object, user)).toBe('AccessDenied');
    // No time has passed, and nobody has read the project anew.
    expect(await other.outcome(object, user)).toBe(200);
    clock.time += rememberedTime.caller;
    expect(await other.outcome(object, user)).toBe('AccessDenied');
  });

  it('of a bucket ends in time: what was public is private at once on that server, and soon on others', async () => {
    const acl = (value: string): Unsigned => ({
      method: 'PUT',
      path: bucket,
      query: 'acl',
      headers: { 'x-amz-acl': value },
    });
    const list: Unsigned = { path: bucket, query: 'list-type=2' };
    expect(await one.outcome(acl('public-read'), root)).toBe(200);
    for (const server of [one, other]) expect(await server.outcome(list)).toBe(200);
    expect(await one.outcome(acl('private'), root)).toBe(200);
    expect(await one.outcome(list)).toBe('AccessDenied');
    expect(await other.outcome(list)).toBe(200);
    clock.time += rememberedTime.bucket;
    expect(await other.outcome(list)).toBe('AccessDenied');
  });

  it('does not count at a commit that depends on rights: what was withdrawn is refused at once, and nothing is changed', async () => {
    expect(await other.outcome(object, user)).toBe(200);
    expect(await one.outcome(withdrawal, root)).toBe(200);
    expect(await other.outcome({ ...object, method: 'DELETE' }, user)).toBe('AccessDenied');
    expect(await other.outcome(object, root)).toBe(200);
  });

  it('of a bucket that is gone lets nobody write: PUT is refused at once, and leaves no object', async () => {
    expect(await other.outcome(object, root)).toBe(200);
    expect(await one.outcome({ ...object, method: 'DELETE' }, root)).toBe(204);
    expect(await one.outcome({ method: 'DELETE', path: bucket }, root)).toBe(204);
    expect(await other.outcome(put, root)).toBe('NoSuchBucket');
    const versions = [];
    for await (const { key } of one.inner.scan()) if (key.sk === 'new') versions.push(key);
    expect(versions).toEqual([]);
    // A new one of the name is another bucket.
    expect(await one.outcome({ method: 'PUT', path: bucket }, root)).toBe(200);
    expect(await other.outcome(put, root)).toBe(200);
    expect(await one.outcome({ path: put.path }, root)).toBe(200);
  });

  it('is forgotten as soon as a server hears of a change: a notification, also the last one of a command', async () => {
    const acl = (value: string): Unsigned => ({
      method: 'PUT',
      path: bucket,
      query: 'acl',
      headers: { 'x-amz-acl': value },
    });
    const list: Unsigned = { path: bucket, query: 'list-type=2' };
    const [server, command] = [await open({ isRemembered }), await open({ isRemembered })];
    expect(await command.outcome(acl('public-read'), root)).toBe(200);
    expect(await server.outcome(list)).toBe(200);
    expect(await command.outcome(acl('private'), root)).toBe(200);
    await command.inner.close();
    // The clock stands still.
    await eventually(async () => expect(await server.outcome(list)).toBe('AccessDenied'));
  });

  it('of a bucket does not count for a DELETE that finds nothing, and so has no commit: versions begin at once', async () => {
    // Whether it may be deleted depends on the object, which is therefore looked at.
    const policy = JSON.stringify({
      Version: '2012-10-17',
      Statement: [
        {
          ...{ Effect: 'Deny', Principal: '*', Action: 's3:DeleteObject', Resource: 'arn:aws:s3:::shop-data/*' },
          Condition: { StringEquals: { 's3:ExistingObjectTag/kept': 'yes' } },
        },
      ],
    });
    expect(await one.outcome({ method: 'PUT', path: bucket, query: 'policy', body: policy }, root)).toBe(204);
    expect(await other.outcome(object, root)).toBe(200);
    const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    expect(await one.outcome({ method: 'PUT', path: bucket, query: 'versioning', body: versioning }, root)).toBe(200);
    const deleted = await other.send({ method: 'DELETE', path: `${bucket}/none` }, root);
    expect([deleted.status, deleted.header('x-amz-delete-marker')]).toEqual([204, 'true']);
  });

  it('of a bucket is checked by a commit: versions and locks begin at once', async () => {
    expect(await other.outcome(object, root)).toBe(200);
    const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    expect(await one.outcome({ method: 'PUT', path: bucket, query: 'versioning', body: versioning }, root)).toBe(200);
    expect((await other.send(put, root)).header('x-amz-version-id')).toMatch(/^[\w-]{10,}$/);
    const lock =
      '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>COMPLIANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>';
    expect(await one.outcome({ method: 'PUT', path: bucket, query: 'object-lock', body: lock }, root)).toBe(200);
    const versionId = (await other.send(put, root)).header('x-amz-version-id')!;
    const removal: Unsigned = { method: 'DELETE', path: put.path, query: `versionId=${encodeURIComponent(versionId)}` };
    expect(await one.outcome(removal, root)).toBe('AccessDenied');
  });
});
