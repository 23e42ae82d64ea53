import { hour, minute } from '../../shared/ports/durations.ts';
import type { Attributes, Change, ItemKey } from '../../shared/ports/key-value-table.ts';
import type { EventRecord } from '../../shared/events/event-record.ts';
import * as keyParts from '../../shared/storage/table/keys/key-parts.ts';
import { eventPartition } from '../../shared/storage/table/keys/event-keys.ts';
import { itemKey } from '../../shared/storage/table/keys/keys.ts';
import { attempt, insist, runClients, type Scenario, type Stage } from './scenario.ts';
import { tenants } from './tenants.ts';

const bucket = 'told';
const path = `/${bucket}`;
const enabled = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
/** Webhooks by the prefix of the keys of which they are told, with the events of a message at most. */
const batches = { 'one/': 1, 'many/': 5 } as const;
const keys = Object.keys(batches).flatMap((prefix) => ['a', 'b', 'c'].map((name) => prefix + name));
/** The time in which everything that waits is delivered, once nothing goes wrong: waits between attempts are shorter. */
const deliveryTime = 3 * hour;

/** A versioned bucket whose changes are delivered to webhooks: each at least once, the first time in the order of the commits of its key. */
export class Told implements Scenario {
  readonly #stage: Stage;
  #bucketId = '';
  /** What was committed, by key, oldest first: a kind of change and a version id, which do not come twice. */
  readonly #made = new Map<string, string[]>();
  readonly #told = new Map<string, Set<string>>();
  #read = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async prepare(): Promise<void> {
    const { owner } = tenants;
    await insist(this.#stage, owner, 'CreateBucket', { method: 'PUT', path });
    await insist(this.#stage, owner, 'PutBucketVersioning', {
      method: 'PUT',
      path,
      query: 'versioning',
      body: enabled,
    });
    this.#bucketId = this.#stage.stores.table.item(itemKey.bucket(bucket))!['id'] as string;
    const rules: string[] = [];
    for (const [prefix, batch] of Object.entries(batches)) {
      const body = `<Webhook><Url>https://hooks.example/</Url><Batch>${batch}</Batch></Webhook>`;
      const query = `webhook&name=by-${batch}`;
      const { text } = await insist(this.#stage, owner, 'PutWebhook', { method: 'PUT', path: '/', query, body });
      const [, arn] = /<Arn>(.*?)<\/Arn>/.exec(text)!;
      const filter = `<Filter><S3Key><FilterRule><Name>prefix</Name><Value>${prefix}</Value></FilterRule></S3Key></Filter>`;
      const events = '<Event>s3:ObjectCreated:*</Event><Event>s3:ObjectRemoved:*</Event>';
      rules.push(`<QueueConfiguration><Queue>${arn}</Queue>${events}${filter}</QueueConfiguration>`);
    }
    const body = `<NotificationConfiguration>${rules.join('')}</NotificationConfiguration>`;
    const put = { method: 'PUT', path, query: 'notification', body };
    await insist(this.#stage, owner, 'PutBucketNotification', put);
  }

  async run(isOver: () => boolean): Promise<void> {
    const client = (): Promise<void> => this.#request();
    await runClients(this.#stage, isOver, [client, client]);
  }

  async check(): Promise<void> {
    const { stores, deployment } = this.#stage;
    const { clock } = deployment.operator;
    await deployment.drain();
    for (const end = clock.now() + deliveryTime; this.#isAnyWaiting(); await clock.sleep(minute)) {
      if (clock.now() > end) throw new Error('events wait although their webhook takes everything');
    }
    for (const body of stores.receiver.taken.slice(this.#read)) this.#readMessage(body);
    this.#read = stores.receiver.taken.length;
    for (const [key, made] of this.#made) {
      const told = this.#told.get(key);
      const missed = made.find((change) => told?.has(change) !== true);
      if (missed !== undefined) throw new Error(`${missed} of ${key} was committed, and never told`);
    }
  }

  observe = (changes: readonly Change[], _: unknown, before: (key: ItemKey) => Attributes | undefined): void => {
    if (this.#bucketId === '') return;
    const versions = new Map<string, { readonly former: Set<unknown>; readonly present: Map<string, Attributes> }>();
    for (const change of changes) {
      const place = keyParts.version(change.key);
      if (place?.bucketId !== this.#bucketId) continue;
      const ofKey = versions.get(place.key) ?? { former: new Set(), present: new Map() };
      versions.set(place.key, ofKey);
      const was = before(change.key);
      if (was) ofKey.former.add(was['i']);
      if ('put' in change) ofKey.present.set(change.put['i'] as string, change.put);
    }
    for (const [key, { former, present }] of versions) {
      const added = [...present].find(([id]) => !former.has(id));
      const removed = [...former].find((id) => !present.has(id as string));
      const made = this.#made.get(key) ?? [];
      this.#made.set(key, made);
      if (added) made.push(`${added[1]['m'] === 1 ? 'marker' : 'object'} ${added[0]}`);
      else if (removed !== undefined) made.push(`removal ${removed as string}`);
    }
  };

  async #request(): Promise<void> {
    const { random } = this.#stage.stores.world.scheduler;
    const { owner } = tenants;
    const [key, other] = [`${path}/${random.oneOf(keys)}`, `${path}/${random.oneOf(keys)}`];
    const kind = random.weighted({ put: 5, remove: 2, removeVersion: 2, copy: 1, rename: 1 });
    if (kind === 'put') await attempt(this.#stage, owner, 'PutObject', { method: 'PUT', path: key, body: key });
    if (kind === 'remove') await attempt(this.#stage, owner, 'DeleteObject', { method: 'DELETE', path: key });
    if (kind === 'copy') {
      const headers = { 'x-amz-copy-source': other };
      await attempt(this.#stage, owner, 'CopyObject', { method: 'PUT', path: key, headers });
    }
    if (kind === 'rename') {
      const headers = { 'x-amz-rename-source': other };
      await attempt(this.#stage, owner, 'RenameObject', { method: 'PUT', path: key, query: 'renameObject', headers });
    }
    if (kind === 'removeVersion') {
      const made = (this.#made.get(key.slice(path.length + 1)) ?? []).filter((one) => !one.startsWith('removal'));
      if (made.length === 0) return;
      const [, id] = random.oneOf(made).split(' ');
      await attempt(this.#stage, owner, 'DeleteObject', { method: 'DELETE', path: key, query: `versionId=${id}` });
    }
  }

  /** @throws Error if a change is told that was not made, or one before those that were made before it */
  #readMessage(body: string): void {
    const { Records: records = [] } = JSON.parse(body) as { readonly Records?: readonly EventRecord[] };
    for (const { eventName, s3 } of records) {
      const { key, versionId } = s3.object as typeof s3.object & { readonly versionId?: string };
      const kind = eventName.startsWith('ObjectCreated')
        ? 'object'
        : eventName.endsWith('Created')
          ? 'marker'
          : 'removal';
      const change = `${kind} ${versionId}`;
      const told = this.#told.get(key) ?? new Set();
      this.#told.set(key, told);
      if (told.has(change)) continue;
      const made = this.#made.get(key) ?? [];
      if (!made.includes(change)) throw new Error(`${change} of ${key} was told, and never made`);
      const next = made[told.size];
      if (change !== next) throw new Error(`${change} of ${key} was told before ${next}`);
      told.add(change);
    }
  }

  #isAnyWaiting(): boolean {
    return this.#stage.stores.table.items([eventPartition.queue('')]).length > 0;
  }
}
