import { setTimeout as sleep } from 'node:timers/promises';
import type { Attributes, Change, Condition, KeyValueTable, WriteOutcome } from '../../shared/ports/key-value-table.ts';

/** The milliseconds by which a planted fault is late, or its data is stale. */
const delay = 500;

/** A table, or the prototype of all tables of a process. */
type Tables = Pick<KeyValueTable, 'get' | 'query' | 'write'>;

/** Returns true if a write makes a version current, and so is the effect of a request. */
function isCommit(changes: readonly Change[]): boolean {
  return changes.some(({ key }) => key.pk.startsWith('head/'));
}

/** Replaces the commits that make a version current. */
function commitBy(
  tables: Tables,
  commit: (
    write: (changes?: readonly Change[], conditions?: readonly Condition[]) => Promise<WriteOutcome>,
    changes: readonly Change[],
  ) => Promise<WriteOutcome>,
): void {
  const writeTo = tables.write;
  tables.write = function (given, givenConditions, options) {
    const write: Tables['write'] = (changes, conditions) => writeTo.call(this, changes, conditions, options);
    if (!isCommit(given)) return write(given, givenConditions);
    return commit((changes = given, conditions = givenConditions) => write(changes, conditions), given);
  };
}

/** Faults that a careless change of an adapter, or of its callers, could introduce. Each changes the methods of a table's port. */
export const plantedFaults = {
  'a write is acknowledged before it happens': (tables: Tables) =>
    commitBy(tables, async (write) => {
      void sleep(delay)
        .then(() => write())
        .catch(() => undefined);
      return { outcome: 'written', old: [] };
    }),

  'a read is answered from a cache': (tables: Tables) => {
    const { get } = tables;
    const cached = new Map<string, { readonly item: Attributes | undefined; readonly until: number }>();
    tables.get = async function (key) {
      if (!key.pk.startsWith('head/')) return get.call(this, key);
      const name = `${key.pk} ${key.sk}`;
      const found = cached.get(name);
      if (found !== undefined && Date.now() < found.until) return found.item;
      const item = await get.call(this, key);
      cached.set(name, { item, until: Date.now() + delay });
      return item;
    };
  },

  'a write loses its conditions': (tables: Tables) =>
    commitBy(tables, (write, changes) => {
      const unconditional = changes.map(({ expect: _, ...change }: Change & { expect?: unknown }): Change => change);
      return write(unconditional, []);
    }),

  // As the SDK of AWS does, if it may retry: its own first attempt is in the way of the second.
  'a write is sent again although it happened': (tables: Tables) => {
    let writes = 0;
    commitBy(tables, async (write) => {
      const first = await write();
      writes += 1;
      return writes % 5 === 0 && first.outcome === 'written' ? write() : first;
    });
  },

  'a listing omits the newest key': (tables: Tables) => {
    const { query, write } = tables;
    const newest = new Map<string, string>();
    tables.write = async function (changes, conditions, options) {
      const outcome = await write.call(this, changes, conditions, options);
      for (const { key } of changes) if (isCommit([{ key, delete: true }])) newest.set(key.pk, key.sk);
      return outcome;
    };
    tables.query = async function (pk, options) {
      const page = await query.call(this, pk, options);
      return { ...page, items: page.items.filter(({ key }) => key.sk !== newest.get(pk)) };
    };
  },
} as const;

export type FaultName = keyof typeof plantedFaults;
