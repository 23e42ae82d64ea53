import { DynamoDBClient, paginateScan, type AttributeValue } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeptInCloud } from '../cloud/deployed.ts';
import { dynamoDbAt, s3At } from '../cloud/moto.ts';

/** The bytes of every file below a data directory: table, small blobs, large ones. */
export async function keptOnDisk(data: string): Promise<readonly Buffer[]> {
  return Promise.all((await filesKept(data)).map((file) => readFile(file)));
}

/** The files below a data directory, but for those that come and go, by which a service tries whether the disk can be written. */
export async function filesKept(data: string): Promise<readonly string[]> {
  const entries = await readdir(data, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.probe-'));
  return files.map((entry) => join(entry.parentPath, entry.name));
}

/** The bytes of every item of a deployment's table, and of the blobs that were written since. */
export async function keptInCloud({ engine, table, blobs }: KeptInCloud, since: Date): Promise<readonly Buffer[]> {
  const kept: Buffer[] = [];
  const database = new DynamoDBClient(dynamoDbAt(engine, true));
  for await (const { Items = [] } of paginateScan({ client: database }, { TableName: table })) {
    for (const item of Items) kept.push(bytesOf({ M: item }));
  }
  database.destroy();
  const store = new S3Client(s3At(engine));
  for await (const { Contents = [] } of paginateListObjectsV2({ client: store }, { Bucket: blobs })) {
    for (const { Key, LastModified } of Contents) {
      if (LastModified! < since) continue;
      const { Body } = await store.send(new GetObjectCommand({ Bucket: blobs, Key }));
      kept.push(Buffer.from(await Body!.transformToByteArray()));
    }
  }
  store.destroy();
  return kept;
}

/** Returns all bytes of a value, concatenated. */
function bytesOf(value: AttributeValue): Buffer {
  if (value.B) return Buffer.from(value.B);
  if (value.M) {
    return Buffer.concat(Object.entries(value.M).flatMap(([name, inner]) => [Buffer.from(name), bytesOf(inner)]));
  }
  if (value.L) return Buffer.concat(value.L.map(bytesOf));
  return Buffer.from(value.S ?? value.N ?? '');
}
