import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PostgresTable } from '../../shared/adapters/postgres/postgres-table.ts';
import type { Change, WriteOutcome } from '../../shared/ports/key-value-table.ts';
import { encodeItemKey } from '../../shared/adapters/encoded-table/item-key.ts';
import { encodeItem } from '../../shared/adapters/encoded-table/item-encoding.ts';
import { CuttingProxy } from '../support/storage/cutting-proxy.ts';
import { startPostgres, type Postgres } from '../support/storage/postgres.ts';

/** What becomes of a write whose connection is lost: whether it happened is found out, and never guessed. */
describe('PostgresTable, without an answer', () => {
  const key = { pk: 'bucket', sk: 'key' };
  const followed = { pk: 'followed', sk: 'key' };
  const change: Change = { key, put: { n: 2 }, expect: { is: 'equal', attribute: 'n', value: 1 } };
  let postgres: Postgres;
  let proxy: CuttingProxy;
  let table: PostgresTable;
  let schemas = 0;
  beforeAll(async () => {
    // Nothing but the tests takes numbers of transactions or writes them down: no standby, no vacuum, no checkpoint.
    const quiet = ['wal_level=minimal', 'max_wal_senders=0', 'autovacuum=off', 'checkpoint_timeout=1h'];
    postgres = await startPostgres(...quiet.flatMap((setting) => ['-c', setting]));
  });
  afterAll(() => postgres?.stop());
  beforeEach(async () => {
    proxy = await CuttingProxy.before(Number(new URL(postgres.url).port));
    const url = new URL(postgres.url);
    url.port = String(proxy.port);
    const schema = `outcomes ${(schemas += 1)}`;
    // Of the others, no notification is sent: it would be a transaction of its own, at a moment that nobody knows.
    table = await PostgresTable.open({ url: url.href, schema, isFollowed: ({ pk }) => pk === followed.pk });
    await table.write([{ key, put: { n: 1 } }]);
  });
  afterEach(async () => {
    await table.close();
    await proxy.close();
  });

  /** Writes, and cuts all connections before the change arrives, or before its answer does. */
  async function cutBefore(what: 'change' | 'answer'): Promise<{ readonly outcome: Promise<WriteOutcome> }> {
    const held = proxy.whenHeld();
    let isSent = false;
    proxy.holds = (way, bytes) => {
      if (way === 'to the server' && bytes.includes('change(')) isSent = true;
      return isSent && (what === 'change') === (way === 'to the server');
    };
    const outcome = table.write([change]);
    outcome.catch(() => undefined);
    await held;
    proxy.cut();
    return { outcome };
  }

  it('is written, if it was committed', async () => {
    const { outcome } = await cutBefore('answer');
    proxy.mend();
    expect(await outcome).toEqual({ outcome: 'written', old: [{ n: 1 }] });
    expect(await table.get(key)).toEqual({ n: 2 });
  });

  it('is done again, if it was not', async () => {
    const { outcome } = await cutBefore('change');
    proxy.mend();
    expect(await outcome).toEqual({ outcome: 'written', old: [{ n: 1 }] });
    expect(await table.get(key)).toEqual({ n: 2 });
  });

  it('is done again after a crash, whose transactions are not found', async () => {
    const { outcome } = await cutBefore('change');
    await postgres.kill();
    await postgres.restart();
    proxy.mend();
    expect(await outcome).toEqual({ outcome: 'written', old: [{ n: 1 }] });
    expect(await table.get(key)).toEqual({ n: 2 });
  });

  it('is unknown after a crash, if another transaction was given its number', async () => {
    const { outcome } = await cutBefore('change');
    await postgres.kill();
    await postgres.restart();
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    for (let n = 0; n < 20; n += 1) await client.query('select pg_current_xact_id()');
    await client.end();
    proxy.mend();
    expect(await outcome).toEqual({ outcome: 'unknown' });
    expect(await table.get(key)).toEqual({ n: 1 });
  });

  it('leaves no gap in the feed, if positions are given out again after a crash', async () => {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    await client.query(`set search_path to "outcomes ${schemas}"`);
    await table.write([{ key: followed, put: { n: 1 } }]);
    const newest = (await table.read(undefined, 10)).at(-1)!.position;
    await client.query("begin; select nextval('feed_position') from generate_series(1, 10); rollback");
    expect(await table.read(newest, 10)).toEqual([]);

    // What recovery makes of them, if none of the ten was on the disk.
    await client.query(`select setval('feed_position', ${newest}); delete from incarnation`);
    const other = { pk: 'followed', sk: 'other' };
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    await client.query('select change($1, $2, $3)', [[encodeItemKey(other)], [encodeItem({ n: 1 })], [true]]);
    await table.write([{ key: followed, put: { n: 2 } }]);
    expect(await table.read(newest, 10)).toEqual([]);
    await client.query('commit');
    expect((await table.read(newest, 10)).map((record) => record.key)).toEqual([other, followed]);
    await client.end();
  });
});
