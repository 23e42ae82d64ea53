import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, PutBucketNotificationConfigurationCommand, type S3Client } from '@aws-sdk/client-s3';
import type { NotificationConfiguration } from '@aws-sdk/client-s3';
import type { EventRecord } from '../../../shared/events/event-record.ts';
import { issueCertificate, type Certificates } from '../clients/certificates.ts';
import { sdk } from '../clients/clients.ts';
import { WebhookReceiver, type ReceivedCall } from '../clients/webhook-receiver.ts';
import { accounts, alice, startService, type Service } from '../programs/server.ts';
import { administer } from './administration.ts';

/** A webhook as `webhook add` prints it. */
export interface AddedWebhook {
  readonly name: string;
  readonly url: string;
  readonly arn: string;
  readonly secret: string;
}

export const project: string = accounts[0].project;

/** A service that delivers events, and receivers of its webhooks. */
export class EventWorld {
  readonly folder: string;
  readonly data: string;
  readonly certificates: Certificates;
  readonly receivers: WebhookReceiver[] = [];
  readonly #args: readonly string[];
  #service: Service | undefined;
  #client: S3Client | undefined;

  private constructor(folder: string, certificates: Certificates, args: readonly string[]) {
    this.folder = folder;
    this.data = join(folder, 'data');
    this.certificates = certificates;
    this.#args = args;
  }

  /** @param receivers their number */
  static async start({ args = [], receivers = 1 }: { args?: readonly string[]; receivers?: number } = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'stillage-events-'));
    const world = new EventWorld(folder, await issueCertificate(folder, ['127.0.0.1']), args);
    for (let at = 0; at < receivers; at += 1) world.receivers.push(await WebhookReceiver.start(world.certificates));
    await world.restart();
    return world;
  }

  get service(): Service {
    return this.#service!;
  }

  get client(): S3Client {
    return this.#client!;
  }

  /** Starts the service on its data. */
  async restart(): Promise<void> {
    const allowed = this.receivers.flatMap(({ port }) => ['--alarm-webhook-allow', `127.0.0.1:${port}`]);
    this.#service = await startService({
      data: this.data,
      args: [...allowed, ...this.#args],
      env: { NODE_EXTRA_CA_CERTS: this.certificates.authority },
    });
    this.#client?.destroy();
    this.#client = sdk(this.service, alice, { maxAttempts: 1 });
  }

  async stop(): Promise<void> {
    this.#client?.destroy();
    await this.#service?.stop();
    for (const receiver of this.receivers) await receiver.stop();
    await rm(this.folder, { recursive: true });
  }

  /** Adds a webhook that a receiver answers. */
  add(name: string, receiver = this.receivers[0]!, ...options: string[]): Promise<AddedWebhook> {
    const url = `https://127.0.0.1:${receiver.port}/${name}`;
    return administer<AddedWebhook>(this.data, 'webhook', 'add', project, name, url, ...options);
  }

  async bucket(name: string): Promise<string> {
    await this.client.send(new CreateBucketCommand({ Bucket: name }));
    return name;
  }

  /** Tells a webhook of everything that happens in a bucket. */
  async tell(Bucket: string, arn: string): Promise<void> {
    await this.configure(Bucket, { QueueConfigurations: [{ QueueArn: arn, Events: [...everything] }] });
  }

  async configure(
    Bucket: string,
    NotificationConfiguration: NotificationConfiguration,
    SkipDestinationValidation = false,
  ): Promise<void> {
    const input = { Bucket, NotificationConfiguration, SkipDestinationValidation };
    await this.client.send(new PutBucketNotificationConfigurationCommand(input));
  }
}

const everything = [
  's3:ObjectCreated:*',
  's3:ObjectRemoved:*',
  's3:ObjectTagging:*',
  's3:ObjectAcl:Put',
  's3:LifecycleExpiration:*',
] as const;

/** Returns the records in calls, without test events. */
export function recordsIn(calls: readonly ReceivedCall[], path?: string): EventRecord[] {
  return calls
    .filter((call) => path === undefined || call.path === path)
    .flatMap(({ body }) => (JSON.parse(body) as { Records?: EventRecord[] }).Records ?? []);
}
