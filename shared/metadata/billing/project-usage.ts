import { hour } from '../../ports/durations.ts';
import type { Item, KeyValueTable } from '../../ports/key-value-table.ts';
import { beginningOf } from './days.ts';
import { billingPartition } from './items.ts';
import { decodeTally, noRequests, sumOf, type RequestTally } from './request-meter.ts';
import { beginDay, byteTimeUntil, decodeDay, type Holding } from './storage-day.ts';

/** What a project used on a day. */
export interface DayUsage extends RequestTally {
  readonly day: string;
  readonly byteHours: number;
  /** At the end of the day: versions that are no delete markers. */
  readonly objects: number;
}

const nothing: Holding = { bytes: 0, objects: 0 };

/**
 * What a project used on each of these days, as far as it has been counted.
 * @param days consecutive; those that have not begun are left out
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
  for await (const counter of countersOf(table, project)) {
    const { before, items } = await holdingsOf(table, project, counter, first, last);
    let holding = before;
    for (const day of begun) {
      const item = items.get(day);
      const held = item ? decodeDay(item.attributes) : beginDay(day, holding);
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

/** `<bucket id>/<shard id>/` of every bucket that the project has, or once had. */
async function* countersOf(table: KeyValueTable, project: string): AsyncGenerator<string> {
  for (let after: string | undefined; ;) {
    const page = await table.query(billingPartition.storage(project), {
      limit: 1,
      ...(after !== undefined && { after }),
    });
    const [item] = page.items;
    if (item === undefined) return;
    const counter = item.key.sk.slice(0, item.key.sk.lastIndexOf('/') + 1);
    yield counter;
    // Behind all of its days, which begin with digits.
    after = `${counter}~`;
  }
}

/** The days of a counter from the first to the last, and what it counted before. */
async function holdingsOf(
  table: KeyValueTable,
  project: string,
  counter: string,
  first: string,
  last: string,
): Promise<{ readonly before: Holding; readonly items: ReadonlyMap<string, Item> }> {
  const pk = billingPartition.storage(project);
  const options = { prefix: counter, reverse: true, after: counter + first, limit: 1 };
  const [previous] = (await table.query(pk, options)).items;
  const items = new Map<string, Item>();
  for await (const item of itemsFrom(table, pk, { prefix: counter, from: counter + first })) {
    const day = item.key.sk.slice(counter.length);
    if (day > last) break;
    items.set(day, item);
  }
  return { before: previous ? decodeDay(previous.attributes) : nothing, items };
}

async function requestsOf(
  table: KeyValueTable,
  project: string,
  first: string,
  last: string,
): Promise<ReadonlyMap<string, RequestTally>> {
  const found = new Map<string, RequestTally>();
  for await (const { key, attributes } of itemsFrom(table, billingPartition.requests(project), { from: first })) {
    const [day] = key.sk.split('/') as [string];
    if (day > last) break;
    found.set(day, sumOf(found.get(day) ?? noRequests, decodeTally(attributes)));
  }
  return found;
}

async function* itemsFrom(
  table: KeyValueTable,
  pk: string,
  where: { readonly prefix?: string; readonly from: string },
): AsyncGenerator<Item> {
  for (let after: string | undefined, more = true; more;) {
    const page = await table.query(pk, { ...where, ...(after !== undefined && { after }) });
    yield* page.items;
    after = page.items.at(-1)?.key.sk ?? after;
    ({ more } = page);
  }
}
