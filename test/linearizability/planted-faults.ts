import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDbTable } from '../../shared/adapters/cloud/dynamodb/dynamodb-table.ts';
import type { Attributes, Change, Condition, WriteOutcome } from '../../shared/ports/key-value-table.ts';

/** The milliseconds by which a planted fault is late, or its data is stale. */
const delay = 500;

/** The methods as they are. */
// eslint-disable-next-line @typescript-eslint/unbound-method -- each is called on a table
const { get, query, write: writeTo } = DynamoDbTable.prototype;

/** Returns true if a write makes a version current, and so is the effect of a request. */
function isCommit(changes: readonly Change[]): boolean {
  return changes.some(({ key }) => key.pk.startsWith('head/'));
}

/** Replaces the commits that make a version current, in every table of this process. */
function commitBy(
  commit: (
    write: (changes?: readonly Change[], conditions?: readonly Condition[]) => Promise<WriteOutcome>,
    changes: readonly Change[],
  ) => Promise<WriteOutcome>,
): void {
  DynamoDbTable.prototype.write = function (given, givenConditions) {
    const write = writeTo.bind(this);
    if (!isCommit(given)) return write(given, givenConditions);
    return commit((changes = given, conditions = givenConditions) => write(changes, conditions), given);
  };
}

/** Faults that a careless change of an adapter, or of its callers, could introduce. Each changes the table's port for the whole process. */
export const plantedFaults = {
  'a write is acknowledged before it happens': () =>
    commitBy(async (write) => {
      void sleep(delay)
        .then(() => write())
        .catch(() => undefined);
      return { outcome: 'written', old: [] };
    }),

  'a read is answered from a cache': () => {
    const cached = new Map<string, { readonly item: Attributes | undefined; readonly until: number }>();
    DynamoDbTable.prototype.get = async function (key) {
      if (!key.pk.startsWith('head/')) return get.call(this, key);
      const name = `${key.pk} ${key.sk}`;
      const found = cached.get(name);
      if (found !== undefined && Date.now() < found.until) return found.item;
      const item = await get.call(this, key);
      cached.set(name, { item, until: Date.now() + delay });
      return item;
    };
  },

  'a write loses its conditions': () =>
    commitBy((write, changes) => {
      const unconditional = changes.map(({ expect: _, ...change }: Change & { expect?: unknown }): Change => change);
      return write(unconditional, []);
    }),

  // As the SDK of AWS does, if it may retry: its own first attempt is in the way of the second.
  'a write is sent again although it happened': () => {
    let writes = 0;
    commitBy(async (write) => {
      const first = await write();
      writes += 1;
      return writes % 5 === 0 && first.outcome === 'written' ? write() : first;
    });
  },

  'a listing omits the newest key': () => {
    const newest = new Map<string, string>();
    DynamoDbTable.prototype.write = async function (changes, conditions) {
      const outcome = await writeTo.call(this, changes, conditions);
      for (const { key } of changes) if (isCommit([{ key, delete: true }])) newest.set(key.pk, key.sk);
      return outcome;
    };
    DynamoDbTable.prototype.query = async function (pk, options) {
      const page = await query.call(this, pk, options);
      return { ...page, items: page.items.filter(({ key }) => key.sk !== newest.get(pk)) };
    };
  },
} as const;

export type FaultName = keyof typeof plantedFaults;
