import { hour } from '../ports/durations.ts';
import type { KeyValueTable, QueryOptions } from '../ports/key-value-table.ts';
import { beginningOf } from '../storage/table/keys/days.ts';
import { billingKeyParts, billingPartition, billingPrefix } from '../storage/table/keys/billing-keys.ts';
import { partitionItems } from '../storage/table/pages.ts';
import { decodeTally, noRequests, sumOf, type RequestTally } from './request-meter.ts';
import { beginDay, byteTimeUntil, decodeDay, type Holding, type StorageDay } from './storage-day.ts';

/** The usage of a project on one day. */
export interface DayUsage extends RequestTally {
  readonly day: string;
  readonly byteHours: number;
  /** The number of versions at the end of the day, without delete markers. */
  readonly objects: number;
}

const nothing: Holding = { bytes: 0, objects: 0 };

/**
 * Returns the usage of a project on each of these days, as counted to date.
 * @param days consecutive days; those that have not begun are left out
 */
export async function projectUsage(
  table: KeyValueTable,
  project: string,
  days: readonly string[],
  now: number,
): Promise<readonly DayUsage[]> {
  const begun = days.filter((day) => beginningOf(day) <= now);
  const [first, last] = [begun[0], begun.at(-1)];
  if (first === undefined || last === undefined) return [];
  const storage = new Map(begun.map((day) => [day, { byteTime: 0n, objects: 0 }]));
  for await (const { before, days: stored } of holdersOf(table, project, first, last)) {
    let holding = before;
    for (const day of begun) {
      const held = stored.get(day) ?? beginDay(day, holding);
      const total = storage.get(day)!;
      total.byteTime += byteTimeUntil(day, held, now);
      total.objects += held.objects;
      holding = held;
    }
  }
  const requests = await requestsOf(table, project, first, last);
  return begun.map((day) => ({
    day,
    ...(requests.get(day) ?? noRequests),
    byteHours: Number(storage.get(day)!.byteTime) / hour,
    objects: storage.get(day)!.objects,
  }));
}

/** The storage of one bucket as counted by one shard. */
interface Holder {
  /** `<bucket id>/<shard>/` */
  readonly prefix: string;
  /** The contents before the first requested day. */
  before: Holding;
  /** The requested days on which something changed. */
  readonly days: Map<string, StorageDay>;
}

/** Items per page. Items before and after the requested days are skipped where they would fill more than a page. */
const pageSize = 300;

/** Yields the counters of every bucket that the project has, or once had. A page may span several buckets. */
async function* holdersOf(table: KeyValueTable, project: string, first: string, last: string): AsyncGenerator<Holder> {
  const pk = billingPartition.storage(project);
  let holder: Holder | undefined;
  let place: Pick<QueryOptions, 'from' | 'after'> = {};
  for (let more = true; more;) {
    const page = await table.query(pk, { ...place, limit: pageSize });
    let day = '';
    for (const { key, attributes } of page.items) {
      const { counter: prefix, day: at } = billingKeyParts.storage(key);
      if (holder && holder.prefix !== prefix) yield holder;
      if (holder?.prefix !== prefix) holder = { prefix, before: nothing, days: new Map() };
      day = at;
      if (day < first) holder.before = decodeDay(attributes);
      else if (day <= last) holder.days.set(day, decodeDay(attributes));
    }
    ({ more } = page);
    if (holder === undefined || !more) continue;
    if (day < first) {
      const earlier = { prefix: holder.prefix, reverse: true, after: holder.prefix + first, limit: 1 };
      const [latest] = (await table.query(pk, earlier)).items;
      if (latest) holder.before = decodeDay(latest.attributes);
      place = { from: holder.prefix + first };
    } else {
      // Days begin with digits.
      place = day < last ? { after: holder.prefix + day } : { from: billingPrefix.afterCounter(holder.prefix) };
    }
  }
  if (holder) yield holder;
}

async function requestsOf(
  table: KeyValueTable,
  project: string,
  first: string,
  last: string,
): Promise<ReadonlyMap<string, RequestTally>> {
  const found = new Map<string, RequestTally>();
  for await (const { key, attributes } of partitionItems(table, billingPartition.requests(project), { from: first })) {
    const day = billingKeyParts.requestsDay(key);
    if (day > last) break;
    found.set(day, sumOf(found.get(day) ?? noRequests, decodeTally(attributes)));
  }
  return found;
}
