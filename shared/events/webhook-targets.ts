import { invalidArgument, S3Error } from '../errors/s3-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { Attributes, Item, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { Secrets } from '../ports/secrets.ts';
import { eventKey, eventPartition } from '../storage/table/keys/event-keys.ts';
import { timedId, writeToken } from '../storage/table/keys/ids.ts';
import { asRead, conflict, optimistically, slowDown } from '../storage/table/optimistic-write.ts';
import { settled } from '../storage/table/settled.ts';

const secretBytes = 32;
const maximumUrlLength = 2048;
export const maximumBatch = 100;

/** The forms of a message: S3's records, or one CloudEvent for each. */
export const webhookFormats = ['s3', 'cloudevents'] as const;
export type WebhookFormat = (typeof webhookFormats)[number];

/** What the owner of a webhook says of it. */
export interface WebhookDefinition {
  readonly url: string;
  /** The records in one message, at most. */
  readonly batch: number;
  readonly format: WebhookFormat;
}

/** A webhook of a project, to which events are delivered. */
export interface Webhook extends WebhookDefinition {
  /** New at every creation: events for a former webhook of the same name are not delivered to this one. */
  readonly id: string;
  readonly project: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Sealed. */
  readonly secret: Uint8Array;
}

const arnPrefix = 'arn:stillage:webhook::';
const arnForm = /^arn:stillage:webhook::(\d{12}):([\w-]{1,64})$/;

/** Returns the ARN of a webhook. @param account the account number of its project */
export function webhookArn(account: string, name: string): string {
  return `${arnPrefix}${account}:${name}`;
}

/** Parses the ARN of a webhook. */
export function parseWebhookArn(arn: string): { readonly account: string; readonly name: string } | undefined {
  const [, account, name] = arnForm.exec(arn) ?? [];
  return account === undefined || name === undefined ? undefined : { account, name };
}

/** Checks the name of a new webhook. @throws S3Error InvalidArgument */
export function readWebhookName(name: string): string {
  if (/^[\w-]{1,64}$/.test(name)) return name;
  throw invalidArgument('name', name, 'The name of a webhook has 1 to 64 letters, digits, hyphens and underscores.');
}

/**
 * Checks the URL of a webhook. Whether it may be called at all, and by http, is decided whenever it is called.
 * @throws S3Error InvalidArgument
 */
export function readWebhookUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url && isHttp && url.username === '' && url.password === '' && url.hash === '' && text.length <= maximumUrlLength)
    return url.href;
  throw invalidArgument('url', text, 'The URL of a webhook must begin with https:// and have no user and no fragment.');
}

/** Creates a 404 error that names the webhook. */
function noSuchWebhook(name: string): S3Error {
  return new S3Error('NoSuchWebhook', { details: { WebhookName: name } });
}

/** The webhooks of projects. */
export class WebhookTargets {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #secrets: Secrets;

  constructor(deps: { table: KeyValueTable; clock: Clock; randomness: Randomness; secrets: Secrets }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#secrets = deps.secrets;
  }

  async find(project: string, name: string): Promise<Webhook | undefined> {
    const item = await this.#table.get(eventKey.webhook(project, name));
    return item && decodeWebhook(project, name, item);
  }

  /** Finds a webhook by its id. */
  async byId(id: string): Promise<Webhook | undefined> {
    const listed = await this.#table.get(eventKey.listedWebhook(id));
    const found = listed && (await this.find(listed['project'] as string, listed['name'] as string));
    return found?.id === id ? found : undefined;
  }

  /** Returns the webhooks of a project by name. */
  async of(project: string): Promise<readonly Webhook[]> {
    const items: Item[] = [];
    for (let more = true; more;) {
      const after = items.at(-1)?.key.sk;
      const page = await this.#table.query(eventPartition.webhooks(project), { ...(after !== undefined && { after }) });
      items.push(...page.items);
      more = page.more;
    }
    return items.map(({ key, attributes }) => decodeWebhook(project, key.sk, attributes));
  }

  /** Returns the project of a webhook, also of one that was removed while events waited. */
  async projectOf(id: string): Promise<string | undefined> {
    return (await this.#table.get(eventKey.listedWebhook(id)))?.['project'] as string | undefined;
  }

  /** Yields the ids of all webhooks and their projects, also of those that were removed while events waited. */
  async *all(): AsyncGenerator<{ readonly id: string; readonly project: string }> {
    let after: string | undefined;
    for (let more = true; more;) {
      const page = await this.#table.query(eventPartition.everyWebhook, { ...(after !== undefined && { after }) });
      for (const { key, attributes } of page.items) yield { id: key.sk, project: attributes['project'] as string };
      after = page.items.at(-1)?.key.sk;
      more = page.more && after !== undefined;
    }
  }

  /**
   * Creates a webhook.
   * @param limit the number of webhooks that a project may have
   * @returns the secret that signs its messages, which is never shown again
   * @throws S3Error InvalidArgument (the name is taken, or there are too many)
   */
  async add(project: string, name: string, definition: WebhookDefinition, limit: number): Promise<string> {
    if ((await this.of(project)).length >= limit)
      throw invalidArgument('name', name, `A project may have at most ${limit} webhooks.`);
    const now = this.#clock.now();
    const id = timedId(now, this.#randomness);
    const { secret, sealed } = await this.#newSecret(id);
    const { url, batch, format } = definition;
    const put = { id, url, batch, format, created: now, secret: sealed, r: writeToken(this.#randomness) };
    const isNew = await settled(
      this.#table.write([
        { key: eventKey.webhook(project, name), put, expect: { is: 'absent' } },
        { key: eventKey.listedWebhook(id), put: { project, name } },
      ]),
    );
    if (!isNew) throw invalidArgument('name', name, 'The project has a webhook of this name.');
    return secret;
  }

  /** Replaces the secret of a webhook. @returns the new one @throws S3Error NoSuchWebhook, SlowDown */
  async rotate(project: string, name: string): Promise<string> {
    const key = eventKey.webhook(project, name);
    return optimistically<string>(async () => {
      const item = await this.#table.get(key);
      if (item === undefined) throw noSuchWebhook(name);
      const { secret, sealed } = await this.#newSecret(item['id'] as string);
      const put = { ...item, secret: sealed, r: writeToken(this.#randomness) };
      return (await settled(this.#table.write([{ key, put, expect: asRead(item) }]))) ? secret : conflict;
    }, slowDown);
  }

  /** Removes a webhook, and so the events that wait for it. @throws S3Error NoSuchWebhook, SlowDown */
  async remove(project: string, name: string): Promise<void> {
    const key = eventKey.webhook(project, name);
    return optimistically<void>(async () => {
      const item = await this.#table.get(key);
      if (item === undefined) throw noSuchWebhook(name);
      // The entry in the list stays until the queue is empty.
      if (!(await settled(this.#table.write([{ key, delete: true, expect: asRead(item) }])))) return conflict;
      return undefined;
    }, slowDown);
  }

  /** Returns the secret of a webhook, to sign with. */
  async secretOf({ id, secret }: Pick<Webhook, 'id' | 'secret'>): Promise<string> {
    return Buffer.from(await this.#secrets.open(secret, secretContext(id))).toString();
  }

  async #newSecret(id: string): Promise<{ readonly secret: string; readonly sealed: Uint8Array }> {
    const secret = Buffer.from(this.#randomness.bytes(secretBytes)).toString('base64url');
    return { secret, sealed: await this.#secrets.seal(Buffer.from(secret), secretContext(id)) };
  }
}

const secretContext = (id: string): string => `webhook/${id}`;

function decodeWebhook(project: string, name: string, item: Attributes): Webhook {
  return {
    id: item['id'] as string,
    project,
    name,
    url: item['url'] as string,
    batch: item['batch'] as number,
    format: item['format'] as WebhookFormat,
    created: item['created'] as number,
    secret: item['secret'] as Uint8Array,
  };
}
