import { afterAll } from 'vitest';
import { PostgresTable } from '../../shared/adapters/postgres/postgres-table.ts';
import { startPostgres } from '../support/storage/postgres.ts';
import { describeChangeFeed } from './change-feed.ts';
import { describeKeyValueTable } from './key-value-table.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

let opened = 0;

async function open(): Promise<{ table: PostgresTable; feed: PostgresTable; close: () => Promise<void> }> {
  const table = await PostgresTable.open({ url: postgres.url, schema: `contract "${(opened += 1)}"` });
  return { table, feed: table, close: () => table.close() };
}

describeKeyValueTable('PostgresTable', { open, effort: 0.3, timeout: 120_000 });
describeChangeFeed('PostgresTable', { open });
