import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { operations } from '../../functions/operations.ts';
import { startCloudService, type CloudService } from '../../functions/cloud/composition.ts';
import { readCloudSettings } from '../../functions/cloud/settings.ts';
import { nodeHttpListener } from '../../shared/node-http/node-http.ts';
import { TrustedProxies } from '../../shared/node-http/connections/trusted-proxies.ts';
import { DynamoDbTable } from '../../shared/adapters/cloud/dynamodb/dynamodb-table.ts';
import { itemKey } from '../../shared/storage/table/keys/keys.ts';
import { S3BlobStore } from '../../shared/adapters/cloud/s3/s3-blob-store.ts';
import type { BackgroundBundle } from '../../infra/bundles/bundle.ts';
import type { AdministrationAnswer } from '../../functions/admin/administer.ts';
import { defaultLimits } from '../../shared/protocol/limits.ts';
import type { Engines } from '../support/cloud/engines.ts';
import { createBucket, createTable, dynamoDbAt, s3At, streamArn } from '../support/cloud/moto.ts';
import { rememberEnvironment } from '../support/runs/environment.ts';
import { BackgroundProcesses } from './background-processes.ts';
import { RoleGate } from './role-gate.ts';
import type { StreamMapping } from './stream-mapping.ts';
import { deployedFunctions, thingOf } from './template-grants.ts';

export const tableName = 'stillage-table';
const blobBucket = 'stillage-blobs';
/** That of the deployment. */
export const secret = 'A1b2C3d4'.repeat(8);

/**
 * The functions in the background as deployed: the bundles, each in a process with the environment and the grants that the template gives
 * its function, over engines that stand in for AWS. The service itself, over the same table and blobs, serves clients of S3.
 */
export class BackgroundUnderTest {
  readonly gate: RoleGate;
  /** A topic of another account, to which a queue is subscribed. */
  readonly topic: string;
  readonly #topicQueue: string;
  readonly #engine: string;
  readonly #functions: BackgroundProcesses;
  readonly #server: Server;
  readonly #service: CloudService;
  readonly #restoreEnvironment: () => void;

  private constructor(parts: {
    gate: RoleGate;
    engine: string;
    functions: BackgroundProcesses;
    service: CloudService;
    server: Server;
    topic: string;
    topicQueue: string;
    restoreEnvironment: () => void;
  }) {
    this.gate = parts.gate;
    this.topic = parts.topic;
    this.#topicQueue = parts.topicQueue;
    this.#engine = parts.engine;
    this.#functions = parts.functions;
    this.#service = parts.service;
    this.#server = parts.server;
    this.#restoreEnvironment = parts.restoreEnvironment;
  }

  static async start(
    engines: Engines,
    template: object,
    bundles: readonly BackgroundBundle[],
  ): Promise<BackgroundUnderTest> {
    const engine = engines.endpoint;
    await createTable(dynamoDbAt(engine, true), tableName, true);
    await createBucket(s3At(engine), blobBucket);
    const names = { secret: 'stillage', 'edge secret': 'stillage-edge' };
    const secrets = new SecretsManagerClient(account(engine));
    for (const Name of Object.values(names))
      await secrets.send(new CreateSecretCommand({ Name, SecretString: secret }));
    const { topic, topicQueue } = await createQueues(engine);
    const deployed = deployedFunctions(template);
    const gate = await RoleGate.before(engines, deployed);

    const values: Readonly<Record<string, string>> = {
      ...names,
      table: tableName,
      'blob bucket': blobBucket,
      Lifecycle: `${gate.endpoint}/123456789012/Lifecycle`,
    };
    const valueOf = (value: unknown): string => (typeof value === 'string' ? value : values[thingOf(value)]!);
    const environmentOf = (name: string, variables: Readonly<Record<string, unknown>>): Record<string, string> => ({
      ...Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, valueOf(value)])),
      // The gate identifies functions by it.
      AWS_ACCESS_KEY_ID: name,
      AWS_SECRET_ACCESS_KEY: 'of-the-role',
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL: gate.endpoint,
    });
    const functions = new BackgroundProcesses({
      ...{ template, bundles, gate: gate.endpoint },
      streamArn: await streamArn(engine, tableName),
      lifecycleQueue: values['Lifecycle']!,
      environmentOf: (name) => environmentOf(name, deployed.get(name)!.environment),
    });

    const [{ environment }] = deployed.values() as unknown as [{ environment: Readonly<Record<string, unknown>> }];
    const restoreEnvironment = rememberEnvironment();
    Object.assign(process.env, environmentOf('FrontDoor', environment));
    const service = await startCloudService(readCloudSettings(process.env), operations, S3BlobStore);
    const listener = nodeHttpListener(service.pipeline, {
      proxies: new TrustedProxies([]),
      limits: defaultLimits,
      keepAlive: () => true,
      telemetry: service.log,
    });
    const server = createServer(listener).on('checkContinue', listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const parts = { gate, engine, functions, service, server, topic, topicQueue, restoreEnvironment };
    return new BackgroundUnderTest(parts);
  }

  get mappings(): ReadonlyMap<string, StreamMapping> {
    return this.#functions.mappings;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /**
   * Invokes a function.
   * @param later the milliseconds by which the function's clock is ahead
   */
  invoke<Answer = Readonly<Record<string, unknown>> | undefined>(
    name: string,
    event: object = {},
    later = 0,
    remaining?: number,
  ): Promise<Answer> {
    return this.#functions.invoke<Answer>(name, event, later, remaining);
  }

  /**
   * Returns the result of a command of administration.
   * @throws Error if it was refused
   */
  async administer<Result>(command: string, given: object = {}): Promise<Result> {
    const answer = await this.invoke<AdministrationAnswer>('Administer', { command, ...given });
    if (!answer.ok) throw new Error(answer.error);
    return answer.result as Result;
  }

  /** Delivers new records of the feed until the followers write no more. */
  follow(): Promise<void> {
    return this.#functions.follow();
  }

  /** Hands the messages of the lifecycle queue to workers. @returns how many there were */
  work(later = 0): Promise<number> {
    return this.#functions.work(later);
  }

  /** Returns the messages published to the topic. */
  async heard(): Promise<readonly string[]> {
    return this.#functions.receive(`${this.gate.endpoint}/123456789012/${this.#topicQueue}`, 'nobody');
  }

  /** The blobs that the engine holds. */
  async blobs(): Promise<number> {
    const client = new S3Client(s3At(this.#engine));
    const { KeyCount } = await client.send(new ListObjectsV2Command({ Bucket: blobBucket }));
    client.destroy();
    return KeyCount!;
  }

  /** The names of the rows of counters, for each bucket that has any. */
  async counterRows(): Promise<readonly (readonly string[])[]> {
    const table = this.#table();
    const rows = new Map<string, string[]>();
    for await (const { key } of table.scan({ prefixes: ['usage/'] })) {
      rows.set(key.pk, [...(rows.get(key.pk) ?? []), key.sk]);
    }
    await table.close();
    return [...rows.values()];
  }

  /** Does some work while the table records a layout written by this version. */
  async withLayout(leastWriter: number, work: () => Promise<void>): Promise<void> {
    const key = itemKey.deployment('layout');
    const table = this.#table();
    const before = (await table.get(key))!;
    await table.write([{ key, put: { version: leastWriter, leastReader: leastWriter, leastWriter, r: 'later' } }]);
    await work();
    await table.write([{ key, put: before }]);
    await table.close();
  }

  #table(): DynamoDbTable {
    return new DynamoDbTable({ tableName, client: dynamoDbAt(this.#engine, true) });
  }

  log(name: string): Promise<string> {
    return this.#functions.log(name);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#functions.stop();
    await this.#service.close();
    await this.gate.stop();
    this.#restoreEnvironment();
  }
}

function account(endpoint: string) {
  return { region: 'us-east-1', endpoint, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
}

/** The engine's account is another one than the template's: a topic of it is a topic of a user. */
async function createQueues(engine: string): Promise<{ topic: string; topicQueue: string }> {
  const queues = new SQSClient(account(engine));
  await queues.send(new CreateQueueCommand({ QueueName: 'Lifecycle' }));
  const topicQueue = 'heard';
  await queues.send(new CreateQueueCommand({ QueueName: topicQueue }));
  const topics = new SNSClient(account(engine));
  const topic = (await topics.send(new CreateTopicCommand({ Name: 'of-a-user' }))).TopicArn!;
  const Endpoint = `arn:aws:sqs:us-east-1:123456789012:${topicQueue}`;
  await topics.send(new SubscribeCommand({ TopicArn: topic, Protocol: 'sqs', Endpoint }));
  queues.destroy();
  topics.destroy();
  return { topic, topicQueue };
}
