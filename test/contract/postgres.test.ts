import { afterAll } from 'vitest';
import { PostgresTable } from '../../shared/adapters/postgres/postgres-table.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { RecentTable } from '../../shared/storage/table/recent-table.ts';
import { startPostgres } from '../support/storage/postgres.ts';
import { describeChangeFeed } from './change-feed.ts';
import { describeKeyValueTable } from './key-value-table.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

let opened = 0;

/** As a server opens it: with what remembers items. */
async function open(): Promise<{ table: RecentTable; feed: RecentTable; close: () => Promise<void> }> {
  const inner = await PostgresTable.open({ url: postgres.url, schema: `contract "${(opened += 1)}"` });
  const table = new RecentTable(inner, new SystemClock());
  return { table, feed: table, close: () => table.close() };
}

describeKeyValueTable('PostgresTable', { open, effort: 0.3, timeout: 120_000 });
describeChangeFeed('PostgresTable', { open });
