import type { Clock } from '../../ports/clock.ts';
import { minute } from '../../ports/durations.ts';
import type { Attributes, Change, Item, ItemKey, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Delivery, Notifier } from '../../ports/notifier.ts';
import type { Randomness } from '../../ports/randomness.ts';
import type { Secrets } from '../../ports/secrets.ts';
import { sortableTime, writeToken } from '../../storage/table/keys/ids.ts';
import { monitoringKey, monitoringKeyParts, monitoringPartition } from '../../storage/table/keys/monitoring-keys.ts';
import type { AlarmHistory } from './alarm-history.ts';
import { readAlarmMessage } from './alarm-message.ts';
import { secretContext } from './alarm.ts';
import { tokenIs } from '../../storage/table/optimistic-write.ts';

/** An alarm's message that some of its targets have not received yet. */
interface Pending {
  readonly key: ItemKey;
  readonly bucketId: string;
  readonly alarmId: string;
  readonly targets: readonly string[];
  readonly body: string;
  readonly secret: Uint8Array | undefined;
  /** The end of the lease of the process that took the message for delivery. */
  readonly leasedUntil: number;
  readonly token: string;
}

const pageSize = 100;
/** Longer than the slowest target takes to time out. */
const leaseTime = 3 * minute;

/**
 * Returns the change that queues a message for delivery. It is written together with the change of state it reports.
 */
export function notificationChange(message: {
  readonly bucketId: string;
  readonly alarmId: string;
  /** When the state changed. No alarm changes twice in a millisecond, so this and its id identify repeated messages. */
  readonly at: number;
  readonly targets: readonly string[];
  readonly body: string;
  readonly secret: Uint8Array | undefined;
}): Change {
  const { bucketId, alarmId, at, targets, body, secret } = message;
  return {
    key: monitoringKey.notification(sortableTime(at), alarmId),
    put: { bucketId, alarmId, targets, body, leasedUntil: 0, r: 'new', ...(secret && { secret }) },
    expect: { is: 'absent' },
  };
}

/**
 * The messages of alarms awaiting delivery. Each is delivered at least once to each of its targets. Deliveries are
 * recorded, so a target receives a message twice only if a crash comes between the delivery and its record.
 */
export class Notifications {
  readonly #table: KeyValueTable;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #secrets: Secrets;
  readonly #history: AlarmHistory;

  constructor(deps: {
    table: KeyValueTable;
    clock: Clock;
    randomness: Randomness;
    secrets: Secrets;
    history: AlarmHistory;
  }) {
    this.#table = deps.table;
    this.#clock = deps.clock;
    this.#randomness = deps.randomness;
    this.#secrets = deps.secrets;
    this.#history = deps.history;
  }

  /**
   * Delivers every message that no other process is delivering. A delivery that was interrupted or could not be
   * recorded is repeated when its lease expires.
   * @returns the number of deliveries attempted, including refused ones
   */
  async deliver(notifier: Notifier): Promise<number> {
    let deliveries = 0;
    let after: string | undefined;
    for (;;) {
      const { items, more } = await this.#table.query(monitoringPartition.notifications, {
        limit: pageSize,
        ...(after !== undefined && { after }),
      });
      const ends = await Promise.allSettled(items.map((item) => this.#deliverOne(decodePending(item), notifier)));
      for (const end of ends) {
        if (end.status === 'rejected') throw end.reason;
        deliveries += end.value;
      }
      after = items.at(-1)?.key.sk;
      if (!more || after === undefined) return deliveries;
    }
  }

  async #deliverOne(pending: Pending, notifier: Notifier): Promise<number> {
    const now = this.#clock.now();
    if (pending.leasedUntil > now) return 0;
    let taken = await this.#update(pending, { leasedUntil: now + leaseTime });
    if (taken === undefined) return 0;
    const { bucketId, alarmId, targets, body, secret, key } = taken;
    const opened = secret && Buffer.from(await this.#secrets.open(secret, secretContext(bucketId, alarmId))).toString();
    const alarm = readAlarmMessage(body);
    const { time } = monitoringKeyParts.notification(key);
    const deliveries = targets.map(async (target) => {
      const delivery = await notifier.send({ target, body, alarm, id: `${time}.${alarmId}`, secret: opened });
      return { target, delivery };
    });
    for (const { target, delivery } of await Promise.all(deliveries)) {
      const rest: readonly string[] = taken.targets.filter((one) => one !== target);
      const note = this.#history.note(bucketId, alarmId, {
        at: this.#clock.now(),
        type: 'Action',
        summary: summaryOf(target, delivery),
      });
      taken = await this.#update(taken, { targets: rest }, [note]);
      if (taken === undefined) break;
    }
    return deliveries.length;
  }

  /** Updates a message, or removes it if no targets remain. Returns undefined if another process has changed it. */
  async #update(
    pending: Pending,
    difference: Partial<Pending>,
    further: readonly Change[] = [],
  ): Promise<Pending | undefined> {
    const next = { ...pending, ...difference, token: writeToken(this.#randomness) };
    const expect = tokenIs(pending.token);
    const { key } = next;
    const change: Change =
      next.targets.length === 0 ? { key, delete: true, expect } : { key, put: encodePending(next), expect };
    const { outcome } = await this.#table.write([change, ...further]);
    return outcome === 'written' ? next : undefined;
  }
}

function summaryOf(target: string, delivery: Delivery): string {
  switch (delivery.outcome) {
    case 'delivered':
      return `Action ${target} was carried out.`;
    case 'refused':
      return `Action ${target} was refused: ${delivery.reason}.`;
    case 'failed':
      return `Action ${target} failed: ${delivery.reason}.`;
  }
}

function encodePending({ bucketId, alarmId, targets, body, secret, leasedUntil, token }: Pending): Attributes {
  return { bucketId, alarmId, targets, body, leasedUntil, r: token, ...(secret && { secret }) };
}

function decodePending({ key, attributes }: Item): Pending {
  return {
    key,
    bucketId: attributes['bucketId'] as string,
    alarmId: attributes['alarmId'] as string,
    targets: attributes['targets'] as readonly string[],
    body: attributes['body'] as string,
    secret: attributes['secret'] as Uint8Array | undefined,
    leasedUntil: attributes['leasedUntil'] as number,
    token: attributes['r'] as string,
  };
}
