import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketAclCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LastUses } from '../../shared/accounts/key-uses.ts';
import type { BilledRequests } from '../../shared/billing/bill-requests.ts';
import { backgroundFunctions } from '../../infra/constructs/background-functions.ts';
import { bundleBackground, bundleFunctions } from '../../infra/bundles/bundle.ts';
import { hostNamesOf } from '../../infra/host-names.ts';
import { describeOperations, otherwise } from '../../infra/bundles/operation-descriptions.ts';
import { routerCode } from '../../infra/bundles/router-code.ts';
import { DynamoDbTable } from '../../shared/adapters/cloud/dynamodb/dynamodb-table.ts';
import { monthOf } from '../../shared/storage/table/keys/days.ts';
import { noRequests, sumOf, type RequestTally } from '../../shared/billing/request-meter.ts';
import { synthesise, temporaryDirectory } from '../infra/synthesis.ts';
import { administer } from '../support/storage/administration.ts';
import { sdk } from '../support/clients/clients.ts';
import { startEngines, type Engines } from '../support/cloud/engines.ts';
import { dynamoDbAt, noEngine } from '../support/cloud/moto.ts';
import { alice, bob } from '../support/programs/server.ts';
import { DeploymentUnderTest } from './deployment-under-test.ts';

const served = [
  'CreateBucket',
  'DeleteObject',
  'GetObject',
  'HeadObject',
  'ListObjectsV2',
  'PutBucketAcl',
  'PutObject',
];
const directory = await temporaryDirectory();
const hour = 60 * 60 * 1000;

/** As `--json` prints it, as far as it is looked at here. */
interface Total extends RequestTally {
  readonly objects: number;
  readonly byteHours: number;
}

let engines: Engines | undefined;
let deployment: DeploymentUnderTest | undefined;
let table: DynamoDbTable | undefined;
let client: S3Client | undefined;
let stranger: S3Client | undefined;

beforeAll(async () => {
  engines = await startEngines();
  if (engines === undefined) {
    console.warn(`SKIPPED, the bill of a deployment: ${noEngine}`);
    return;
  }
  const operations = (await describeOperations()).filter(({ name }) => served.includes(name));
  const functions = await bundleFunctions(operations, directory);
  const names = hostNamesOf({ domain: undefined, websiteDomain: undefined });
  const router = await routerCode({ ...names, functions, otherwise, hasByteLane: true });
  const needed = backgroundFunctions.filter(({ name }) => ['Administer', 'BillRequests', 'CountUsage'].includes(name));
  const background = await bundleBackground(needed, directory);
  deployment = await DeploymentUnderTest.start(engines, await synthesise(functions, { router }), functions, {
    background,
  });
  table = new DynamoDbTable({ tableName: deployment.tableName, client: dynamoDbAt(engines.endpoint, true) });
  client = sdk(deployment, alice, { maxAttempts: 1 });
  stranger = sdk(deployment, bob, { maxAttempts: 1 });
});
beforeEach((context) => {
  if (deployment === undefined) context.skip(noEngine);
});
afterAll(async () => {
  client?.destroy();
  stranger?.destroy();
  await table?.close();
  await deployment?.stop();
  await engines?.stop();
  await rm(directory, { recursive: true });
});

/** Returns the totals of a month from `stillage usage`. */
async function totalOf(project: string, month: string): Promise<Total> {
  const printed = await administer<{ readonly total: Total }>(
    deployment!.place,
    ...['usage', `${project}@example.test`, '--month', month],
  );
  return printed.total;
}

/** The requests of yesterday's month and today's, since one may end while this runs. */
async function usageOf(project: string): Promise<RequestTally> {
  const now = Date.now();
  const months = [...new Set([monthOf(now - 24 * hour), monthOf(now)])];
  const totals = await Promise.all(months.map((month) => totalOf(project, month)));
  return totals.reduce<RequestTally>(sumOf, noRequests);
}

describe('the bill of a deployment', () => {
  const Bucket = 'billed';
  const Body = Buffer.alloc(70_000, 'x');
  let first: RequestTally;

  it('has the requests of both lanes, by class, and their bytes', async () => {
    await client!.send(new CreateBucketCommand({ Bucket }));
    for (const Key of ['one', 'two']) {
      await client!.send(new PutObjectCommand({ Bucket, Key, Body, ChecksumAlgorithm: 'CRC32' }));
    }
    const { Body: stored } = await client!.send(new GetObjectCommand({ Bucket, Key: 'one' }));
    await stored!.transformToByteArray();
    await client!.send(new HeadObjectCommand({ Bucket, Key: 'one' }));
    await client!.send(new ListObjectsV2Command({ Bucket }));
    await client!.send(new DeleteObjectCommand({ Bucket, Key: 'two' }));
    await expect(client!.send(new GetObjectCommand({ Bucket, Key: 'two' }))).rejects.toThrow();

    expect(await usageOf('main')).toEqual(noRequests);
    first = await billedAs({ a: 4, b: 3, free: 1 });
    const logged = await deployment!.requests('byte-lane');
    // Servers count in memory. Functions, which may be frozen at any time, log each request to be charged.
    expect(logged.filter((line) => line['class'] !== undefined)).toEqual([]);
    const [created] = await deployment!.requests('CreateBucket');
    expect(created).toMatchObject({ operation: 'CreateBucket', class: 'a' });
    // One of a hundred is logged, and all that failed.
    expect(logged.map(({ status, sampled }) => [status, sampled])).toEqual([
      [200, 100],
      [404, undefined],
    ]);
    expect(first.bytesIn).toBeGreaterThanOrEqual(2 * Body.length);
    expect(first.bytesIn).toBeLessThan(2 * Body.length + 1000);
    const errors = logged
      .filter(({ status }) => status === 404)
      .reduce((sum, line) => sum + Number(line['bytesOut']), 0);
    expect(errors).toBeGreaterThan(0);
    expect(first.bytesOut).toBeGreaterThan(Body.length + errors);
    expect(first.bytesOut).toBeLessThan(Body.length + errors + 2000);
  });

  it('comes with the last uses of keys', async () => {
    const use = await new LastUses({ table: table! }).of(alice.accessKeyId);
    expect(use?.service).toBe('s3');
    expect(use!.at).toBeLessThanOrEqual(Date.now());
  });

  it('has what lies in the buckets, and for how long', async () => {
    const held = () => totalOf('main', monthOf(Date.now()));
    await expect.poll(async () => (await held()).objects).toBe(1);
    await expect.poll(async () => (await held()).byteHours).toBeGreaterThan(0);
    expect((await held()).byteHours).toBeLessThan(Body.length);
    expect(await totalOf('other', monthOf(Date.now()))).toMatchObject({ objects: 0, byteHours: 0 });
  });

  it('counts nothing twice', async () => {
    await deployment!.invokeBackground('BillRequests');
    await deployment!.invokeBackground('BillRequests', 5 * hour);
    expect(await usageOf('main')).toEqual(first);
  });

  it('is of who owns the bucket, and not of who was refused', async () => {
    await expect(stranger!.send(new ListObjectsV2Command({ Bucket }))).rejects.toThrow();
    await client!.send(new PutBucketAclCommand({ Bucket, ACL: 'public-read' }));
    await stranger!.send(new ListObjectsV2Command({ Bucket }));
    await billedAs({ a: first.a + 2, b: first.b, free: first.free });
    expect(await usageOf('other')).toEqual(noRequests);
  });

  it('loses nothing of a server that is told to stop: it logs its last counts', async () => {
    const put = client!.send(new PutObjectCommand({ Bucket, Key: 'last', Body }));
    await put;
    expect(await deployment!.stopByteLane()).toBe(0);
    const before = await usageOf('main');
    await forget();
    await deployment!.invokeBackground('BillRequests', 5 * hour + 2);
    expect((await usageOf('main')).a).toBe(before.a + 1);
  });

  it('needs what its role grants, and nothing else', () => {
    expect(deployment!.calls.denied).toEqual([]);
    expect(deployment!.failures).toEqual([]);
    const unused = deployment!.calls.unused().filter((grant) => grant.startsWith('BillRequests: '));
    // It is the scheduler that writes them.
    expect(unused).toEqual(['BillRequests: sqs:SendMessage on ScheduleDeadLetters']);
  });
});

/** Bills until the servers have logged their counts and the bill shows this tally. */
async function billedAs(expected: Partial<RequestTally>): Promise<RequestTally> {
  const billed = async (): Promise<RequestTally> => {
    // The hours of a test before may be settled in the future that it saw.
    await forget();
    await deployment!.invokeBackground<BilledRequests>('BillRequests', 5 * hour + 1);
    return usageOf('main');
  };
  await expect.poll(billed).toMatchObject(expected);
  return usageOf('main');
}

/** Which hours are settled. */
async function forget(): Promise<void> {
  await table!.write([{ key: { pk: 'deployment', sk: 'billed-requests' }, delete: true }]);
}
