import type { Clock } from '../ports/clock.ts';
import { day, second } from '../ports/durations.ts';
import type { Attributes, Change, ItemKey, KeyValueTable } from '../ports/key-value-table.ts';
import type { Randomness } from '../ports/randomness.ts';
import { inParallel } from '../storage/concurrency.ts';
import { expiry } from '../storage/table/attribute-values.ts';
import { auditKey } from '../storage/table/keys/audit-keys.ts';
import { beginningOf, dayOf } from '../storage/table/keys/days.ts';
import { writeToken } from '../storage/table/keys/ids.ts';
import { partitionPages } from '../storage/table/pages.ts';
import { bestEffort, settled } from '../storage/table/settled.ts';
import { shortened, tamed, type Act, type Auditor, type AuditRecord } from './audit-record.ts';

/** Records of a category that wait at most: as many as come in a second of what may come most. */
const maxWaiting = 1000;
/** Records of refused acts that a process takes in a second: strangers cause them. */
const maxRefused = 20;
/** Records of requests for data that a process takes in a second, and how many of these may be of refused ones. */
const maxData = 1000;
const maxRefusedData = 200;
/** Characters of the arguments of a command, or of the parameters of an action, that are kept. */
const maxGiven = 8 * 1024;
/** Records of one write: a transaction of any table takes them, twice each. */
const batch = 25;
/** Milliseconds that are waited for a write: in the cloud, an answer waits for it. */
const maxWriting = 5 * second;
/** Batches that are written at a time: they share commits. */
const concurrency = 4;
/** Records that are forgotten between two writes, so that no record waits for long. */
const maxForgotten = 2000;
/** Days before those that are kept in which something may be left, as the service did not run. */
const lookBack = 31;

/** Which days of records stay: of those that a process forgets, or that the table removes by itself. Undefined: another process forgets them. */
type Keeping = number | { readonly expiringAfter: number } | undefined;

/**
 * Writes acts into the table, soon after they happened and in their order, and forgets them after some days. Nobody waits for it: what does not
 * get into the table, or is too much of what strangers cause, is counted and reported.
 */
export class AuditLog implements Auditor {
  readonly #deps: { readonly table: KeyValueTable; readonly clock: Clock; readonly randomness: Randomness };
  readonly #keeps: Keeping;
  readonly #onLoss: (records: number) => void;
  #waiting: AuditRecord[] = [];
  #waitingData = 0;
  #unreported = 0;
  readonly #refused = new Allowance(maxRefused);
  readonly #data = new Allowance(maxData);
  readonly #refusedData = new Allowance(maxRefusedData);
  #forgottenOn = '';
  #writing: Promise<void> = Promise.resolve();
  /** The records that were lost since the start, by category. */
  readonly lost = { management: 0, data: 0 };
  readonly secured: (() => Promise<boolean>) | undefined;
  /** Writes that failed. */
  #failures = 0;

  /**
   * @param keeps for how many days records are kept. @param onLoss called with how many were lost since it was called last
   * @param isStrict whether no act is answered as done unless it is taken down
   */
  constructor(
    deps: { readonly table: KeyValueTable; readonly clock: Clock; readonly randomness: Randomness },
    keeps: Keeping,
    onLoss: (records: number) => void,
    isStrict = false,
  ) {
    this.#deps = deps;
    this.#keeps = keeps;
    this.#onLoss = onLoss;
    this.secured = isStrict ? () => this.#secured() : undefined;
  }

  record(act: Act): boolean {
    const { clock, randomness } = this.#deps;
    const time = clock.now();
    if (!this.#hasRoom(act, time)) {
      this.#lose([act]);
      return false;
    }
    if (act.data !== undefined) this.#waitingData += 1;
    const { address, agent, key, bucket } = act;
    const texts = { address: tamed(address), agent: tamed(agent), key: tamed(key), bucket: tamed(bucket) };
    const given = [act.given, shortened(act.given), { tooLong: true }].find((some) => sizeOf(some) <= maxGiven);
    this.#waiting.push({ ...act, ...texts, given, time, id: writeToken(randomness) });
    return true;
  }

  /** Writes what was taken down until now, and forgets what is too old, once a day. */
  flush(): Promise<void> {
    return (this.#writing = this.#writing.then(() => this.#flush()));
  }

  async #secured(): Promise<boolean> {
    const before = this.#failures;
    await this.flush();
    return this.#failures === before;
  }

  async #flush(): Promise<void> {
    const { table, clock } = this.#deps;
    const batches = this.#batches();
    await inParallel(batches, concurrency, async (records) => {
      const changes = records.flatMap((record): readonly Change[] => {
        const put = { record: JSON.stringify(record), ...this.#expiryOf(record) };
        return keysOf(record).map((key) => ({ key, put }));
      });
      // In the cloud, items of a transaction cost twice as much, and share no commit with others.
      const writes = typeof this.#keeps === 'object' ? changes.map((change) => [change]) : [changes];
      const isWritten = await Promise.all(writes.map((some) => written(table, some)));
      if (!isWritten.includes(false)) return;
      this.#failures += 1;
      this.#lose(records);
    });
    if (this.#unreported > 0) {
      this.#onLoss(this.#unreported);
      this.#unreported = 0;
    }
    const today = dayOf(clock.now());
    if (typeof this.#keeps !== 'number' || today === this.#forgottenOn) return;
    if (await this.#forget(beginningOf(today), this.#keeps)) this.#forgottenOn = today;
  }

  /** Returns when the table removes a record. It does so for nothing, some time later. */
  #expiryOf({ time }: AuditRecord): Attributes {
    return typeof this.#keeps === 'object' ? expiry(time + this.#keeps.expiringAfter * day) : {};
  }

  /** Takes what waits, also what comes meanwhile. */
  *#batches(): Generator<readonly AuditRecord[]> {
    while (this.#waiting.length > 0) {
      const records = this.#waiting.splice(0, batch);
      this.#waitingData -= records.filter(({ data }) => data !== undefined).length;
      yield records;
    }
  }

  /** Forgets some of what is too old. Returns whether that was all of it. */
  async #forget(today: number, days: number): Promise<boolean> {
    const { table } = this.#deps;
    let left = maxForgotten;
    for (let back = days + lookBack; back > days; back -= 1) {
      const partition = auditKey.partition(dayOf(today - back * day));
      for await (const items of partitionPages(table, partition, { limit: batch })) {
        const keys = items.flatMap(({ attributes }) => keysOf(recordIn(attributes)));
        if (items.length > 0) await bestEffort(table.write(keys.map((key) => ({ key, delete: true }) as const)));
        left -= items.length;
        if (left <= 0) return false;
      }
    }
    return true;
  }

  #hasRoom({ data, error }: Act, time: number): boolean {
    if (data === undefined) {
      if (error !== undefined && !this.#refused.take(time)) return false;
      return this.#waiting.length - this.#waitingData < maxWaiting;
    }
    if (this.#waitingData >= maxWaiting) return false;
    return (error === undefined || this.#refusedData.take(time)) && this.#data.take(time);
  }

  #lose(acts: readonly Act[]): void {
    for (const { data } of acts) this.lost[data === undefined ? 'management' : 'data'] += 1;
    this.#unreported += acts.length;
  }
}

/** Writes some changes, and tries once more if that fails. Twice is once: a record has its place. */
async function written(table: KeyValueTable, changes: readonly Change[]): Promise<boolean> {
  const write = (): Promise<boolean> => settled(table.write(changes, [], { within: maxWriting }));
  return write().catch(() => write().catch(() => false));
}

/** Returns where a record is: in its day and, for the project that it concerns, among those of the project. */
function keysOf({ time, id, project, data }: AuditRecord): readonly ItemKey[] {
  const ofDay = auditKey.record(dayOf(time), time, id);
  return project === undefined || data !== undefined ? [ofDay] : [ofDay, auditKey.recordOf(project, time, id)];
}

/** Returns the record that an item holds. */
export function recordIn(attributes: Attributes): AuditRecord {
  return JSON.parse(attributes['record'] as string) as AuditRecord;
}

/** How many there may be in a second. */
class Allowance {
  readonly #most: number;
  #second = 0;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns whether there may be another one now. */
  take(time: number): boolean {
    const now = Math.floor(time / second);
    if (now !== this.#second) [this.#second, this.#count] = [now, 0];
    this.#count += 1;
    return this.#count <= this.#most;
  }
}

/** Which records are asked for. */
export interface AuditQuery {
  /** The first and the last time, in milliseconds. */
  readonly from: number;
  readonly to: number;
  /** The canonical id of a project; undefined: all. */
  readonly project?: string | undefined;
  readonly bucket?: string | undefined;
}

/** A page of records. */
export interface AuditPage {
  readonly records: readonly AuditRecord[];
  /** Where to go on; undefined: these were the last. */
  readonly next?: string | undefined;
}

/** Returns whether a text may be the `next` of a page. */
export function isAuditPlace(text: string): boolean {
  const [, today] = /^(\d{4}-\d\d-\d\d) [\w-]{1,64}$/.exec(text) ?? [];
  return today !== undefined && !Number.isNaN(beginningOf(today));
}

function sizeOf(given: Act['given']): number {
  return JSON.stringify(given ?? null).length;
}

/** Items that a page looks at. */
const pageSize = 1000;

/** Returns records in the order of time, oldest first. @param place `next` of the page before */
export async function auditPage(
  table: KeyValueTable,
  { from, to, project, bucket }: AuditQuery,
  place?: string,
): Promise<AuditPage> {
  const records: AuditRecord[] = [];
  let [today, after] = (place?.split(' ') as [string, string] | undefined) ?? ['', ''];
  // No day is looked at that is not asked for.
  if (today < dayOf(from)) [today, after] = [dayOf(from), auditKey.from(from)];
  for (let left = pageSize; today <= dayOf(to); today = dayOf(beginningOf(today) + day), after = '') {
    const page = await table.query(auditKey.partition(today), { limit: left, ...(after !== '' && { after }) });
    for (const { attributes } of page.items) {
      const record = recordIn(attributes);
      const isAsked =
        record.time <= to &&
        (project === undefined || record.project === project) &&
        (bucket === undefined || record.bucket === bucket);
      if (isAsked) records.push(record);
    }
    left -= page.items.length;
    if (left <= 0) return { records, next: `${today} ${page.items.at(-1)!.key.sk}` };
  }
  return { records };
}
