import { invalidArgument, S3Error } from '../errors/s3-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { Attributes, Change, Condition, Item, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { Authorisation } from '../storage/buckets/authorisation.ts';
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
  // The parser would take line breaks and tabs away.
  const isPlain = text.length <= maximumUrlLength && !/[\p{Cc}\s]/u.test(text);
  if (url && isHttp && isPlain && url.username === '' && url.password === '' && url.hash === '') return url.href;
  throw invalidArgument('url', text, 'The URL of a webhook must begin with https:// and have no user and no fragment.');
}

/** Checks what the owner of a webhook says of it, as texts. @throws S3Error InvalidArgument */
export function readWebhookDefinition(given: {
  readonly url: string;
  /** Default: `s3`. */
  readonly format?: string | undefined;
  /** Default: 1. */
  readonly batch?: string | undefined;
}): WebhookDefinition {
  const { format: form = 's3', batch: most = '1' } = given;
  const format = webhookFormats.find((each) => each === form);
  if (format === undefined)
    throw invalidArgument('Format', form, `Format must be one of ${webhookFormats.join(', ')}.`);
  const batch = /^\d{1,3}$/.test(most) ? Number(most) : 0;
  if (batch < 1 || batch > maximumBatch)
    throw invalidArgument('Batch', most, `Batch must be a whole number from 1 to ${maximumBatch}.`);
  if (format === 'cloudevents' && batch > 1)
    throw invalidArgument('Batch', most, 'A CloudEvent is a message of its own: Batch must be 1.');
  return { url: readWebhookUrl(given.url), format, batch };
}

/** Creates a 404 error that names the webhook. */
export function noSuchWebhook(name: string): S3Error {
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
   * @throws S3Error InvalidArgument (the name is taken, or there are too many), SlowDown
   */
  async add(project: string, name: string, definition: WebhookDefinition, limit: number): Promise<string> {
    return optimistically<string>(async () => {
      const present = await this.#table.get(eventKey.webhook(project, name));
      if (present !== undefined) throw invalidArgument('name', name, 'The project has a webhook of this name.');
      return this.#create(project, name, definition, limit);
    }, slowDown);
  }

  /**
   * Creates a webhook, or changes it: its secret and the events that wait for it stay.
   * @param limit the number of webhooks that a project may have
   * @returns the secret of a new webhook, which is never shown again; undefined: the webhook was there
   * @throws S3Error InvalidArgument (there are too many), SlowDown
   */
  async put(
    { authorisation, project, limit }: { authorisation: Authorisation; project: string; limit: number },
    name: string,
    definition: WebhookDefinition,
  ): Promise<string | undefined> {
    const key = eventKey.webhook(project, name);
    return optimistically<string | undefined>(async () => {
      const item = await this.#table.get(key);
      const conditions = await authorisation.confirmCaller();
      if (item === undefined) return this.#create(project, name, definition, limit, conditions);
      const { url, batch, format } = definition;
      const put = { ...item, url, batch, format, r: writeToken(this.#randomness) };
      return (await this.#isWritten([{ key, put, expect: asRead(item) }], conditions)) ? undefined : conflict;
    }, slowDown);
  }

  /**
   * Replaces the secret of a webhook.
   * @param authorisation of a request; undefined: an operator does it
   * @returns the new one
   * @throws S3Error NoSuchWebhook, SlowDown
   */
  async rotate(project: string, name: string, authorisation?: Authorisation): Promise<string> {
    const key = eventKey.webhook(project, name);
    return optimistically<string>(async () => {
      const item = await this.#table.get(key);
      if (item === undefined) throw noSuchWebhook(name);
      const { secret, sealed } = await this.#newSecret(item['id'] as string);
      const put = { ...item, secret: sealed, r: writeToken(this.#randomness) };
      const conditions = await authorisation?.confirmCaller();
      return (await this.#isWritten([{ key, put, expect: asRead(item) }], conditions)) ? secret : conflict;
    }, slowDown);
  }

  /**
   * Removes a webhook, and so the events that wait for it.
   * @param authorisation of a request; undefined: an operator does it
   * @throws S3Error NoSuchWebhook, SlowDown
   */
  async remove(project: string, name: string, authorisation?: Authorisation): Promise<void> {
    const key = eventKey.webhook(project, name);
    return optimistically<void>(async () => {
      const mark = await this.#table.get(eventKey.webhookMark(project));
      const item = await this.#table.get(key);
      if (item === undefined) throw noSuchWebhook(name);
      // The entry in the list stays until the queue is empty.
      const changes: Change[] = [{ key, delete: true, expect: asRead(item) }];
      if (mark !== undefined && (await this.of(project)).length <= 1)
        changes.push({ key: eventKey.webhookMark(project), delete: true, expect: asRead(mark) });
      if (!(await this.#isWritten(changes, await authorisation?.confirmCaller()))) return conflict;
      return undefined;
    }, slowDown);
  }

  /** Creates a webhook, unless another is created at the same time: otherwise there could be more than the limit. */
  async #create(
    project: string,
    name: string,
    { url, batch, format }: WebhookDefinition,
    limit: number,
    conditions?: readonly Condition[],
  ): Promise<string | typeof conflict> {
    const mark = await this.#table.get(eventKey.webhookMark(project));
    if ((await this.of(project)).length >= limit)
      throw invalidArgument('name', name, `A project may have at most ${limit} webhooks.`);
    const now = this.#clock.now();
    const id = timedId(now, this.#randomness);
    const { secret, sealed } = await this.#newSecret(id);
    const r = writeToken(this.#randomness);
    const changes: Change[] = [
      {
        key: eventKey.webhook(project, name),
        put: { id, url, batch, format, created: now, secret: sealed, r },
        expect: { is: 'absent' },
      },
      { key: eventKey.listedWebhook(id), put: { project, name } },
      { key: eventKey.webhookMark(project), put: { r }, expect: asRead(mark) },
    ];
    return (await this.#isWritten(changes, conditions)) ? secret : conflict;
  }

  #isWritten(changes: readonly Change[], conditions: readonly Condition[] = []): Promise<boolean> {
    return settled(this.#table.write(changes, conditions));
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
