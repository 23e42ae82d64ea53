import { createHash } from 'node:crypto';
import { Client, type QueryResultRow } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PostgresTable } from '../../shared/adapters/postgres/postgres-table.ts';
import { TableBusy, type Change, type WriteOutcome } from '../../shared/ports/key-value-table.ts';
import { encodeItemKey } from '../../shared/adapters/encoded-table/item-key.ts';
import { encodeItem } from '../../shared/adapters/encoded-table/item-encoding.ts';
import { CuttingProxy } from '../support/storage/cutting-proxy.ts';
import { eventually, untilFound } from '../support/runs/eventually.ts';
import { startPostgres, type Postgres } from '../support/storage/postgres.ts';

/** What pgbouncer sends a client when the connection to the server breaks: https://www.postgresql.org/docs/15/protocol-error-fields.html */
const lostServer = (() => {
  const fields = Buffer.from('SFATAL\0VFATAL\0C08P01\0Mserver conn crashed?\0\0');
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
})();

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
    // Nothing but the tests takes numbers of transactions or writes them down: no standby, no vacuum, no checkpoint, no background writer.
    const quiet = [
      ...['wal_level=minimal', 'max_wal_senders=0', 'autovacuum=off', 'checkpoint_timeout=1h'],
      'bgwriter_lru_maxpages=0',
    ];
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
  async function cutBefore(
    what: 'change' | 'answer',
    lastWords?: Buffer,
  ): Promise<{ readonly outcome: Promise<WriteOutcome> }> {
    const held = proxy.whenHeld();
    let isSent = false;
    proxy.holds = (way, bytes) => {
      if (way === 'to the server' && bytes.includes('change(')) isSent = true;
      return isSent && (what === 'change') === (way === 'to the server');
    };
    const outcome = table.write([change]);
    outcome.catch(() => undefined);
    await held;
    proxy.cut(lastWords);
    return { outcome };
  }

  /** Carries out queries, each in a transaction of its own, past the proxy. @returns the rows of the last */
  async function queried<Row extends QueryResultRow>(...queries: readonly string[]): Promise<readonly Row[]> {
    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    let rows: readonly Row[] = [];
    for (const query of queries) ({ rows } = await client.query<Row>(query));
    await client.end();
    return rows;
  }

  it('is written, if it was committed', async () => {
    const { outcome } = await cutBefore('answer');
    proxy.mend();
    expect(await outcome).toEqual({ outcome: 'written', old: [{ n: 1 }] });
    expect(await table.get(key)).toEqual({ n: 2 });
  });

  it('is written, if it was committed, and a pooler says in the place of the server that it has lost it', async () => {
    const { outcome } = await cutBefore('answer', lostServer);
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
    // It would put the number of the transaction on the disk, five times a second.
    const [walWriter] = await queried<{ pid: number }>(
      `select pid from pg_stat_activity where backend_type = 'walwriter'`,
    );
    process.kill(walWriter!.pid, 'SIGSTOP');
    const { outcome } = await cutBefore('change');
    const killed = postgres.kill();
    for (const signal of ['SIGQUIT', 'SIGCONT'] as const) process.kill(walWriter!.pid, signal);
    await killed;
    await postgres.restart();
    await queried(...Array.from({ length: 20 }, () => 'select pg_current_xact_id()'));
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

/** A commit counts once it is on the synchronous standby, whoever ends the wait for that. */
describe('PostgresTable, with a synchronous standby that is away', () => {
  let postgres: Postgres;
  let table: PostgresTable;
  let admin: Client;
  beforeAll(async () => {
    postgres = await startPostgres();
    table = await PostgresTable.open({ url: postgres.url, isFollowed: () => false });
    admin = new Client({ connectionString: postgres.url });
    await admin.connect();
  });
  afterAll(async () => {
    await table?.close();
    await admin?.end();
    await postgres?.stop();
  });

  /** Resolves once commits wait, or do not. */
  async function waitFor(standby: string): Promise<void> {
    await admin.query(`alter system set synchronous_standby_names = '${standby}'`);
    await admin.query('select pg_reload_conf()');
    await eventually(async () => expect(await doCommitsWait()).toBe(standby !== ''));
  }
  async function doCommitsWait(): Promise<boolean> {
    const probe = new Client({ connectionString: postgres.url, application_name: 'probe' });
    await probe.connect();
    let isAnswered = false;
    const sent = probe.query("select pg_logical_emit_message(true, 'test', '')").finally(() => (isAnswered = true));
    const found = "from pg_stat_activity where application_name = 'probe' and wait_event = 'SyncRep'";
    const ended = await untilFound(
      async () => isAnswered || (await admin.query(`select pg_cancel_backend(pid) ${found}`)).rows.length,
    );
    await sent;
    await probe.end();
    return ended !== true;
  }
  /** The processes of the table whose commit waits. */
  async function waiting(statement = ''): Promise<readonly number[]> {
    const { rows } = await admin.query<{ pid: number }>(
      "select pid from pg_stat_activity where application_name = 'stillage' and wait_event = 'SyncRep' and query like $1",
      [`%${statement}%`],
    );
    return rows.map(({ pid }) => pid);
  }

  it.each([
    ['pg_cancel_backend', 'item with a condition', { expect: { is: 'absent' } }, 'commit'],
    ['pg_terminate_backend', 'item with a condition', { expect: { is: 'absent' } }, 'commit'],
    ['pg_cancel_backend', 'plain item', {}, 'put_or_delete'],
  ] as const)('acknowledges nothing because of %s: a %s', async (ended, name, more, statement) => {
    const key = { pk: ended, sk: name };
    await waitFor('away');
    let isAnswered = false;
    const outcome = table.write([{ key, put: { n: 1 }, ...more }]).finally(() => (isAnswered = true));
    outcome.catch(() => undefined);
    const [pid] = await eventually(async () => {
      const found = await waiting(statement);
      expect(found).toHaveLength(1);
      return found;
    });
    await admin.query(`select ${ended}($1)`, [pid]);
    // What looks whether it is there, or writes it again, waits in its place.
    await eventually(async () => {
      if (!isAnswered) expect((await waiting()).filter((other) => other !== pid)).not.toEqual([]);
    });
    expect(isAnswered).toBe(false);
    await waitFor('');
    expect((await outcome).outcome).toBe('written');
    expect(await table.get(key)).toEqual({ n: 1 });
  });
});

describe('PostgresTable, whose connections are taken', () => {
  it('waits for one no longer than a write may take', async () => {
    const postgres = await startPostgres();
    const table = await PostgresTable.open({ url: postgres.url, writers: 1 });
    const other = new Client({ connectionString: postgres.url });
    await other.connect();
    try {
      const [held, free] = [
        { pk: 'held', sk: 'key' },
        { pk: 'free', sk: 'key' },
      ];
      await table.write([{ key: held, put: { n: 1 } }]);
      // Whoever writes the item has the only connection until this ends.
      await other.query('begin');
      const lock = createHash('sha1').update(encodeItemKey(held)).digest().readBigInt64BE();
      await other.query('select pg_advisory_xact_lock($1)', [String(lock)]);
      let isAnswered = false;
      const slow = table.write([{ key: held, put: { n: 2 } }]).finally(() => (isAnswered = true));
      for (const more of [{}, { expect: { is: 'absent' } } as const]) {
        await expect(table.write([{ key: free, put: {}, ...more }], [], { within: 100 })).rejects.toThrow(TableBusy);
      }
      expect(isAnswered).toBe(false);
      await other.query('rollback');
      expect((await slow).outcome).toBe('written');
      expect((await table.write([{ key: free, put: {} }], [], { within: 10_000 })).outcome).toBe('written');
    } finally {
      await other.end();
      await table.close();
      await postgres.stop();
    }
  });
});

describe('PostgresTable, whose server answers nothing any more', () => {
  it('is closed, and leaves nobody waiting', async () => {
    const postgres = await startPostgres();
    const table = await PostgresTable.open({ url: postgres.url });
    try {
      const key = { pk: 'bucket', sk: 'key' };
      await table.write([{ key, put: { n: 1 } }]);
      postgres.pause();
      // One finds a connection, the others wait for one.
      const asked = [table.get(key), ...Array.from({ length: 4 }, () => table.write([{ key, put: { n: 2 } }]))];
      const answers = Promise.allSettled(asked);
      await table.close();
      expect((await answers).map(({ status }) => status)).toEqual(asked.map(() => 'rejected'));
    } finally {
      await postgres.stop();
    }
  });
});
