import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Attributes, Change, ItemKey, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Secrets } from '../../ports/secrets.ts';
import type { BucketAuthorisation } from '../../storage/buckets/authorisation.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';
import type { Buckets } from '../../storage/buckets/buckets.ts';
import { timedId, writeToken } from '../../storage/table/keys/ids.ts';
import { monitoringKey, monitoringPartition } from '../../storage/table/keys/monitoring-keys.ts';
import { conflict, jitter, optimistically, slowDown, tokenIs } from '../../storage/table/optimistic-write.ts';
import { bestEffort } from '../../storage/table/settled.ts';
import { decodeAlarm, encodeAlarm, noSuchAlarm, secretContext, type Alarm } from './alarm.ts';
import { callsWebhooks, type AlarmDefinition } from './alarm-definition.ts';
import { insufficient, type Evaluation } from './alarm-evaluation.ts';
import type { AlarmHistory } from './alarm-history.ts';
import { alarmMessage } from './alarm-message.ts';
import { decodeMonitored, isMonitored, type MonitoredBucket, type MonitoredBuckets } from '../monitored-buckets.ts';
import { notificationChange } from './notifications.ts';

const secretBytes = 32;
const pageSize = 100;

/**
 * The alarms of buckets: their definitions and states. Every change is one write that also adds to the alarm's history
 * and, if somebody is to be notified, stores the message for delivery.
 */
export class Alarms {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #secrets: Secrets;
  readonly #buckets: Buckets;
  readonly #monitored: MonitoredBuckets;
  readonly #history: AlarmHistory;

  constructor(deps: {
    table: KeyValueTable;
    clock: Clock;
    randomness: Randomness;
    secrets: Secrets;
    buckets: Buckets;
    monitored: MonitoredBuckets;
    history: AlarmHistory;
  }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#secrets = deps.secrets;
    this.#buckets = deps.buckets;
    this.#monitored = deps.monitored;
    this.#history = deps.history;
  }

  /** @throws S3Error NoSuchAlarm */
  async load(bucketId: string, name: string): Promise<Alarm> {
    const item = await this.#table.get(monitoringKey.alarm(bucketId, name));
    if (item === undefined) throw noSuchAlarm(name);
    return decodeAlarm(name, item);
  }

  /** Lists the alarms of a bucket in name order, after the name `after`. */
  async list(
    bucketId: string,
    { after, limit }: { after?: string | undefined; limit: number },
  ): Promise<{ alarms: readonly Alarm[]; more: boolean }> {
    if (limit === 0) return { alarms: [], more: false };
    const { items, more } = await this.#table.query(monitoringPartition.alarms(bucketId), {
      limit,
      ...(after !== undefined && after !== '' && { after }),
    });
    const alarms = items.map(({ key, attributes }) => decodeAlarm(key.sk, attributes));
    if (!more || alarms.length < limit) return { alarms, more };
    // `more` may be true although no items follow: only another query can say.
    const next = await this.#table.query(monitoringPartition.alarms(bucketId), {
      limit: 1,
      after: alarms.at(-1)!.name,
    });
    return { alarms, more: next.items.length > 0 };
  }

  /** Yields every alarm of a bucket. */
  async *all(bucketId: string): AsyncGenerator<Alarm> {
    let after: string | undefined;
    for (let more = true; more;) {
      const page = await this.list(bucketId, { after, limit: pageSize });
      yield* page.alarms;
      after = page.alarms.at(-1)?.name;
      more = page.more && after !== undefined;
    }
  }

  /**
   * Creates an alarm, without a state, or updates the definition of an existing one, which keeps its state.
   * @param limit the maximum number of alarms in a bucket
   * @returns the secret that signs its webhooks, if this call created one. It is never shown again
   * @throws S3Error InvalidBucketState (monitoring is off), TooManyAlarms, InvalidArgument (the name is taken),
   * SlowDown
   */
  async put(
    authorisation: BucketAuthorisation,
    name: string,
    definition: AlarmDefinition,
    limit: number,
  ): Promise<{ readonly webhookSecret: string | undefined }> {
    let { bucket } = authorisation;
    return optimistically(async (attempt) => {
      bucket = await this.#buckets.readyFor(bucket);
      const { entry, alarm, holder } = await this.#look(bucket, name);
      if (entry?.status !== 'on')
        throw new S3Error('InvalidBucketState', { message: 'Monitoring of the bucket is off.' });
      if (alarm === undefined && entry.alarms >= limit) throw new S3Error('TooManyAlarms');
      if (alarm === undefined) await this.#checkFree(bucket, name, holder);
      const now = this.#clock.now();
      const id = alarm?.id ?? timedId(now, this.#randomness);
      const webhookSecret = callsWebhooks(definition) && !alarm?.secret ? this.#secret() : undefined;
      const sealed =
        webhookSecret === undefined
          ? alarm?.secret
          : await this.#secrets.seal(Buffer.from(webhookSecret), secretContext(bucket.id, id));
      const begin = insufficient('it has not been evaluated yet');
      const next = alarm ?? { name, id, created: now, ...begin, since: now };
      const changes = [
        this.#change(bucket.id, alarm, { ...next, definition, secret: sealed, token: writeToken(this.#randomness) }),
        this.#history.note(bucket.id, id, {
          at: now,
          type: 'ConfigurationUpdate',
          summary: alarm === undefined ? `Alarm "${name}" created.` : `Alarm "${name}" updated.`,
        }),
        ...(alarm === undefined
          ? [this.#reserve(bucket, name, holder), this.#monitored.change(entry, { ...entry, alarms: entry.alarms + 1 })]
          : []),
      ];
      const conditions = [
        ...(alarm === undefined ? [] : [isMonitored(bucket.id)]),
        ...this.#buckets.exactConditions(bucket, await authorisation.confirm(bucket)),
      ];
      if (await this.#isWritten(changes, conditions)) return { webhookSecret };
      bucket = await this.#again(bucket, attempt);
      return conflict;
    }, slowDown);
  }

  /** @throws S3Error NoSuchAlarm, SlowDown */
  async remove(authorisation: BucketAuthorisation, name: string): Promise<void> {
    let { bucket } = authorisation;
    return optimistically(async (attempt) => {
      bucket = await this.#buckets.readyFor(bucket);
      const { entry, alarm, holder } = await this.#look(bucket, name);
      if (alarm === undefined) throw noSuchAlarm(name);
      const changes: Change[] = [
        { key: monitoringKey.alarm(bucket.id, name), delete: true, expect: tokenIs(alarm.token) },
        ...(holder?.['bucketId'] === bucket.id
          ? [{ key: monitoringKey.alarmName(bucket.project, name), delete: true } as const]
          : []),
        ...(entry ? [this.#monitored.change(entry, { ...entry, alarms: Math.max(0, entry.alarms - 1) })] : []),
      ];
      const conditions = this.#buckets.exactConditions(bucket, await authorisation.confirm(bucket));
      if (await this.#isWritten(changes, conditions)) return this.#history.remove(bucket.id, alarm.id);
      bucket = await this.#again(bucket, attempt);
      return conflict;
    }, slowDown);
  }

  /**
   * Changes the state of an alarm, unless the alarm has changed since it was read or monitoring has been turned off.
   * @param region included in the notification
   * @returns whether the state was changed
   */
  async transition(entry: MonitoredBucket, alarm: Alarm, to: Evaluation, region: string): Promise<boolean> {
    const at = Math.max(this.#clock.now(), alarm.since + 1);
    const { bucketId, bucket, project } = entry;
    const { actions, actionsEnabled } = alarm.definition;
    const targets = actionsEnabled ? actions[to.state] : [];
    const body = alarmMessage({ alarm, to, at, bucket, project, region });
    const { outcome } = await this.#table.write(
      [
        ...this.#stateChanges(bucketId, alarm, to, at),
        ...(targets.length > 0
          ? [notificationChange({ bucketId, alarmId: alarm.id, at, targets, body, secret: alarm.secret })]
          : []),
      ],
      [isMonitored(bucketId)],
    );
    return outcome === 'written';
  }

  /**
   * Updates the reason of an alarm that keeps its state. Does not retry: a concurrent change has set a reason, and the
   * next evaluation follows soon.
   */
  async explain(bucketId: string, alarm: Alarm, reason: string): Promise<void> {
    if (reason === alarm.reason) return;
    const next = { ...alarm, reason, token: writeToken(this.#randomness) };
    await bestEffort(this.#table.write([this.#change(bucketId, alarm, next)]));
  }

  /** Sets every alarm of a bucket to INSUFFICIENT_DATA because monitoring is off. Sends no notifications. */
  async pause(entry: MonitoredBucket): Promise<void> {
    for await (const { name } of this.all(entry.bucketId)) await this.#pauseOne(entry, name);
    await this.#monitored.paused(entry);
  }

  async #pauseOne({ bucketId }: MonitoredBucket, name: string): Promise<void> {
    return optimistically(async () => {
      const item = await this.#table.get(monitoringKey.alarm(bucketId, name));
      const alarm = item && decodeAlarm(name, item);
      if (alarm === undefined) return;
      const off = insufficient('monitoring of the bucket is off');
      if (alarm.state === off.state) return this.explain(bucketId, alarm, off.reason);
      const at = Math.max(this.#clock.now(), alarm.since + 1);
      const changes = this.#stateChanges(bucketId, alarm, off, at);
      if (await this.#isWritten(changes)) return;
      return conflict;
    }, slowDown);
  }

  /** Reads an alarm and the items that its creation and removal depend on, in one transaction. */
  async #look(
    bucket: Bucket,
    name: string,
  ): Promise<{ entry: MonitoredBucket | undefined; alarm: Alarm | undefined; holder: Attributes | undefined }> {
    const [entry, alarm, holder] = await this.#table.getTogether([
      monitoringKey.monitored(bucket.id),
      monitoringKey.alarm(bucket.id, name),
      monitoringKey.alarmName(bucket.project, name),
    ]);
    return {
      entry: entry && decodeMonitored(bucket.id, entry),
      alarm: alarm && decodeAlarm(name, alarm),
      holder,
    };
  }

  /** @throws S3Error InvalidArgument if another existing bucket of the project has an alarm of this name */
  async #checkFree(bucket: Bucket, name: string, holder: Attributes | undefined): Promise<void> {
    if (holder === undefined || holder['bucketId'] === bucket.id) return;
    const other = await this.#buckets.find(holder['bucket'] as string);
    if (other === undefined || other.id !== holder['bucketId']) return;
    throw invalidArgument('name', name, `Another bucket of the project has an alarm of this name: ${other.name}.`);
  }

  #reserve(bucket: Bucket, name: string, holder: Attributes | undefined): Change {
    return {
      key: monitoringKey.alarmName(bucket.project, name),
      put: { bucketId: bucket.id, bucket: bucket.name },
      expect:
        holder === undefined
          ? { is: 'absent' }
          : { is: 'equal', attribute: 'bucketId', value: holder['bucketId'] as string },
    };
  }

  #stateChanges(bucketId: string, alarm: Alarm, to: Evaluation, at: number): readonly [Change, Change] {
    const token = writeToken(this.#randomness);
    return [
      this.#change(bucketId, alarm, { ...alarm, state: to.state, reason: to.reason, since: at, token }),
      this.#history.note(bucketId, alarm.id, {
        at,
        type: 'StateUpdate',
        summary: `Alarm updated from ${alarm.state} to ${to.state}. ${to.reason}`,
      }),
    ];
  }

  #change(bucketId: string, present: Alarm | undefined, next: Alarm): Change {
    return {
      key: monitoringKey.alarm(bucketId, next.name),
      put: encodeAlarm(next),
      expect: present === undefined ? { is: 'absent' } : tokenIs(present.token),
    };
  }

  /** The first change must be the alarm's: its token shows whether a write without an answer has taken place. */
  async #isWritten(
    changes: readonly Change[],
    conditions: Parameters<KeyValueTable['write']>[1] = [],
  ): Promise<boolean> {
    const { outcome } = await this.#table.write(changes, conditions);
    if (outcome !== 'unknown') return outcome === 'written';
    const [first] = changes;
    const token = first && 'put' in first ? first.put['r'] : undefined;
    return first !== undefined && (await this.#tokenOf(first.key)) === token;
  }

  async #again(bucket: Bucket, attempt: number): Promise<Bucket> {
    await this.#clock.sleep(jitter(attempt, this.#randomness));
    return this.#buckets.stale(bucket);
  }

  async #tokenOf(key: ItemKey): Promise<unknown> {
    return (await this.#table.get(key))?.['r'];
  }

  #secret(): string {
    return Buffer.from(this.#randomness.bytes(secretBytes)).toString('base64url');
  }
}
