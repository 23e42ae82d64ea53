import { afterAll, it } from 'vitest';
import { DynamoDbTable } from '../../shared/adapters/cloud/dynamodb/dynamodb-table.ts';
import { DynamoDbEngine } from '../support/cloud/dynamodb/engine.ts';
import { listen } from '../support/cloud/engines.ts';
import { createTable, dynamoDbAt, noDynamoDb, noS3, s3At, startMoto } from '../support/cloud/moto.ts';
import { describeKeyValueTable } from './key-value-table.ts';
import { describeS3BlobStore } from './s3-blob-store.ts';

const moto = await startMoto();
afterAll(() => moto?.stop());

const givenDynamoDb = process.env['DYNAMODB_ENDPOINT'];
const dynamoDb = givenDynamoDb ?? moto?.endpoint;

if (dynamoDb === undefined) {
  skipped('DynamoDbTable', noDynamoDb);
} else {
  describeKeyValueTable(`DynamoDbTable over ${givenDynamoDb ?? 'moto'}`, {
    // Moto does some 300 writes a second, and copies the whole table for every transaction.
    effort: 0.05,
    timeout: 120_000,
    broken: givenDynamoDb === undefined ? { 'comparisons of unlike types': 'moto fails on them' } : {},
    open: async () => {
      const client = dynamoDbAt(dynamoDb, givenDynamoDb === undefined);
      const tableName = `contract-${process.pid}-${Date.now()}`;
      await createTable(client, tableName);
      const table = new DynamoDbTable({ tableName, client });
      return { table, close: () => table.close() };
    },
  });
}

const engine = new DynamoDbEngine();
const door = await listen(async ({ headers, body }) => engine.answer(String(headers['x-amz-target']), body));
afterAll(() => door.stop());

describeKeyValueTable('DynamoDbTable over the engine of the tests', {
  effort: 0.1,
  timeout: 120_000,
  open: async () => {
    const client = dynamoDbAt(door.endpoint, false);
    await createTable(client, 'contract');
    const table = new DynamoDbTable({ tableName: 'contract', client });
    return { table, close: () => table.close() };
  },
});

if (moto === undefined) {
  skipped('S3BlobStore', noS3);
} else {
  describeS3BlobStore('moto', async () => s3At(moto.endpoint));
}

/** Skips a whole suite, and prints the reason, which the reporter does not. */
function skipped(suite: string, reason: string): void {
  it(`${suite} keeps its promises`, (context) => {
    console.warn(`SKIPPED, ${suite}: ${reason}`);
    context.skip(reason);
  });
}
