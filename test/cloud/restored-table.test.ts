import {
  DescribeTableCommand,
  DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sdk } from '../support/clients/clients.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { dynamoDbAt, noEngine } from '../support/cloud/moto.ts';
import { exchange } from '../support/clients/raw-client.ts';
import { signed } from '../support/clients/signer.ts';
import { alice } from '../support/programs/server.ts';
import { CloudAccount } from './cloud-account.ts';
import type { DeploymentUnderTest } from './deployment-under-test.ts';

const served = ['CreateBucket', 'GetObject', 'HeadBucket', 'ListObjectsV2', 'PutObject'];
const clients: S3Client[] = [];
let account: CloudAccount | undefined;

beforeAll(async () => {
  account = await CloudAccount.open({ served, inBackground: ['CountUsage'] });
});
beforeEach((context) => {
  if (account === undefined) context.skip(noEngine);
});
afterAll(async () => {
  for (const client of clients) client.destroy();
  await account?.close();
});

/**
 * Restores a table according to docs/cloud-operations.md.
 * @returns the ARN of its stream
 */
async function restore(tableName: string): Promise<string> {
  const client = new DynamoDBClient(dynamoDbAt(account!.engine, true));
  const TableName = `${tableName}-restored`;
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  await client.send(new UpdateContinuousBackupsCommand({ TableName: tableName, PointInTimeRecoverySpecification }));
  const now = { UseLatestRestorableTime: true };
  await client.send(
    new RestoreTableToPointInTimeCommand({ SourceTableName: tableName, TargetTableName: TableName, ...now }),
  );
  const StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } as const;
  await client.send(new UpdateTableCommand({ TableName, StreamSpecification }));
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  client.destroy();
  return Table!.LatestStreamArn!;
}

describe('a deployment with a restored table', () => {
  const Bucket = 'restored';
  const put = (client: S3Client, Key: string, Body: string) => client.send(new PutObjectCommand({ Bucket, Key, Body }));
  const get = async (client: S3Client, Key: string): Promise<string> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    return Body!.transformToString();
  };
  const listed = async (client: S3Client): Promise<unknown[]> => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
    return Contents.map(({ Key }) => Key);
  };
  /** Returns the counters of the bucket, which a follower of the feed updates. */
  const counted = async ({ url }: DeploymentUnderTest): Promise<string> => {
    const request = signed(new URL(url).host, { method: 'HEAD', path: `/${Bucket}` }, { key: alice });
    const { header } = await exchange(url, request);
    return `${header('x-rgw-object-count')} objects, ${header('x-rgw-bytes-used')} bytes`;
  };
  const clientOf = (deployment: DeploymentUnderTest): S3Client => {
    const client = sdk(deployment, alice, { maxAttempts: 1 });
    clients.push(client);
    return client;
  };

  it('has what was there then, by both lanes, goes on counting from there, and leaves the former table as it is', async () => {
    // That of the engine.
    const own = { account: '123456789012' };
    const former = await account!.deploy(own);
    const before = clientOf(former);
    await before.send(new CreateBucketCommand({ Bucket }));
    await put(before, 'kept', 'as it was');
    await expect.poll(() => counted(former)).toBe('1 objects, 9 bytes');
    const restoredTable = await restore(former.tableName);
    await put(before, 'kept', 'overwritten');
    await put(before, 'later', 'lost');

    const deployment = await account!.deploy({ ...own, restoredTable }, { former });
    const after = clientOf(deployment);
    expect(await get(after, 'kept')).toBe('as it was');
    await expect(get(after, 'later')).rejects.toEqual(s3Error('NoSuchKey', 404));
    await put(after, 'since', 'new');
    expect(await listed(after)).toEqual(['kept', 'since']);
    expect(await listed(before)).toEqual(['kept', 'later']);
    await expect.poll(() => counted(deployment)).toBe('2 objects, 12 bytes');
    expect(account!.denied).toEqual([]);
    expect(account!.failures).toEqual([]);
  });
});
