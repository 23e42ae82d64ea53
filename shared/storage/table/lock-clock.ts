import type { Clock } from '../../ports/clock.ts';
import { day, hour } from '../../ports/durations.ts';
import type { Attributes, KeyValueTable } from '../../ports/key-value-table.ts';
import type { Randomness } from '../../ports/randomness.ts';
import { numberOf } from './attribute-values.ts';
import { writeToken } from './keys/ids.ts';
import { itemKey } from './keys/keys.ts';
import { asRead } from './optimistic-write.ts';
import { bestEffort, settled } from './settled.ts';

/*
 * The clock by which retention periods end: docs/adr/0082-object-lock.md. Its item has the latest time it has shown, which it never
 * falls behind, and what the machine's clock showed then. A machine's clock that is further ahead than a service may have been off is
 * not believed: from then on, this clock counts the time that passes, and is as far behind as the jump was.
 */

/** The longest time for which a service may have been off, in milliseconds: the machine's clock may be this far ahead. */
const longestGap = 14 * day;

const key = itemKey.deployment('lock-clock');

/** Returns the time by which retention periods end, in milliseconds since the epoch. @param now what the machine's clock shows */
export async function lockTime(table: Pick<KeyValueTable, 'get'>, now: number): Promise<number> {
  return timeAfter(await table.get(key), now);
}

/** Keeps what the clock shows, at most once an hour; nothing if there was never a lock. Must be called at least once a week. */
export async function keepLockTime(deps: {
  readonly table: KeyValueTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
}): Promise<void> {
  const item = await deps.table.get(key);
  if (item === undefined || Math.abs(deps.clock.now() - numberOf(item['seen'])) < hour) return;
  await bestEffort(put(deps, item));
}

/** Starts the clock, unless it has been started. */
export async function startLockClock(deps: Parameters<typeof keepLockTime>[0]): Promise<void> {
  if ((await deps.table.get(key)) === undefined) await settled(put(deps, undefined));
}

function put(
  { table, clock, randomness }: Parameters<typeof keepLockTime>[0],
  item: Attributes | undefined,
): ReturnType<KeyValueTable['write']> {
  const seen = clock.now();
  const kept = { time: timeAfter(item, seen), seen, r: writeToken(randomness) };
  return table.write([{ key, put: kept, expect: asRead(item) }]);
}

function timeAfter(item: Attributes | undefined, now: number): number {
  if (item === undefined) return now;
  const [time, seen] = [numberOf(item['time']), numberOf(item['seen'])];
  if (now - time <= longestGap) return Math.max(time, now);
  const passed = now - seen;
  return passed > 0 && passed <= longestGap ? time + passed : time;
}
