import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
} from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';

/** The reasons to skip a test whose engine is not installed. */
export const noDynamoDb = 'no DynamoDB engine: set DYNAMODB_ENDPOINT or pip install "moto[server]"';
export const noEngine = 'no engine in the place of AWS: pip install "moto[server]"';
export const noS3 = 'no S3 engine: pip install "moto[server]"';

/** A server that speaks DynamoDB and S3 (https://docs.getmoto.org/en/latest/docs/server_mode.html). */
export interface Moto {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Starts moto's server on a free port. Returns undefined if it is not installed. */
export async function startMoto(): Promise<Moto | undefined> {
  const server = spawn('moto_server', ['-H', '127.0.0.1', '-p', '0'], {
    env: {
      ...process.env,
      PYTHONPATH: join(import.meta.dirname, 'moto'),
      // Larger objects are on the disk.
      MOTO_S3_DEFAULT_KEY_BUFFER_SIZE: '65536',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = () => void server.kill('SIGKILL');
  process.once('exit', kill);
  const endpoint = await announcedEndpoint(server);
  if (endpoint === undefined) return undefined;
  return {
    endpoint,
    stop: async () => {
      process.off('exit', kill);
      server.kill('SIGKILL');
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    },
  };
}

/** Waits for the line that names the port, and keeps reading, as a full pipe would stop the server. */
async function announcedEndpoint(server: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const lines: string[] = [];
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? resolve(undefined) : reject(error),
    );
    // 127: the program on the PATH is only a version manager's stub.
    server.once('exit', (code) =>
      code === 127 ? resolve(undefined) : reject(new Error(`moto_server ended with ${code}: ${lines.join('\n')}`)),
    );
    if (server.stderr === null) return;
    createInterface(server.stderr).on('line', (line) => {
      const endpoint = /Running on (http:\S+)/.exec(line)?.[1];
      if (endpoint !== undefined) resolve(endpoint);
      else if (lines.length < 50) lines.push(line);
    });
  });
}

const account = { region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };

/**
 * Returns the configuration of a client of a DynamoDB engine for tests.
 * @param inTurn one request at a time, since moto's threads race where transactions conflict: then overlapping requests to the engine are
 * not tested
 */
export function dynamoDbAt(endpoint: string, inTurn: boolean): DynamoDBClientConfig {
  const httpAgent = new Agent({ keepAlive: true, maxSockets: inTurn ? 1 : 50 });
  // Waiting for a socket counts towards the time-out.
  const requestHandler = { httpAgent, requestTimeout: 120_000, throwOnRequestTimeout: true };
  return { ...account, endpoint, requestHandler };
}

/** Returns the configuration of a client of an S3 engine for tests. */
export function s3At(endpoint: string): S3ClientConfig {
  return { ...account, endpoint, forcePathStyle: true };
}

/** Creates a table as the deployed one is. @param stream whether with its stream */
export async function createTable(config: DynamoDBClientConfig, name: string, stream = false): Promise<void> {
  const client = new DynamoDBClient(config);
  await client.send(
    new CreateTableCommand({
      TableName: name,
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      BillingMode: 'PAY_PER_REQUEST',
      ...(stream && { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } }),
    }),
  );
  client.destroy();
}

/** The ARN of the stream of a table that has one. */
export async function streamArn(endpoint: string, TableName: string): Promise<string> {
  const client = new DynamoDBClient(dynamoDbAt(endpoint, true));
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  client.destroy();
  return Table!.LatestStreamArn!;
}

/** Creates a queue for messages. */
export async function createQueue(endpoint: string, QueueName: string, region: string): Promise<void> {
  const client = new SQSClient({ ...account, endpoint, region });
  await client.send(new CreateQueueCommand({ QueueName }));
  client.destroy();
}

/** Creates a bucket for blobs. */
export async function createBucket(config: S3ClientConfig, name: string): Promise<void> {
  const client = new S3Client(config);
  await client.send(new CreateBucketCommand({ Bucket: name }));
  client.destroy();
}
