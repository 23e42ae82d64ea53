/**
 * Storage that outlives a reload: keys that cannot be read, and what incomplete uploads still have to send. Never a secret or a link.
 * Each has a database: one whose stores change cannot be opened while another tab has the former one open.
 */
const databases = {
  session: 'stillage',
  uploads: 'stillage',
  queues: 'stillage-queues',
  queued: 'stillage-queues',
} as const;
type StoreName = keyof typeof databases;
type DatabaseName = (typeof databases)[StoreName];

const opened = new Map<DatabaseName, Promise<IDBDatabase>>();

function open(name: DatabaseName): Promise<IDBDatabase> {
  const known = opened.get(name);
  if (known !== undefined) return known;
  const database = new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      for (const [store, of] of Object.entries(databases)) if (of === name) request.result.createObjectStore(store);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('no storage'));
  });
  opened.set(name, database);
  return database;
}

async function run(
  store: StoreName,
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => Pick<IDBRequest, 'result' | 'error'> & EventTarget,
): Promise<unknown> {
  const database = await open(databases[store]);
  return new Promise((resolve, reject) => {
    const request = act(database.transaction(store, mode).objectStore(store));
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('no storage')));
  });
}

/** The keys that begin with a text. */
const within = (prefix: string): IDBKeyRange => IDBKeyRange.bound(prefix, `${prefix}\uffff`);

export const read = (store: StoreName, key: string): Promise<unknown> => run(store, 'readonly', (it) => it.get(key));
/** Returns all values; with a prefix, those whose keys begin with it. */
export const readAll = (store: StoreName, prefix = ''): Promise<unknown> =>
  run(store, 'readonly', (it) => it.getAll(within(prefix)));
export const write = (store: StoreName, key: string, value: unknown): Promise<unknown> =>
  run(store, 'readwrite', (it) => it.put(value, key));
/** Reads a value and replaces it in one transaction. @param change returns the new value; undefined: no change */
export const update = (store: StoreName, key: string, change: (value: unknown) => unknown): Promise<unknown> =>
  run(store, 'readwrite', (it) => {
    const asked = it.get(key);
    asked.addEventListener('success', () => {
      const next = change(asked.result);
      if (next !== undefined) it.put(next, key);
    });
    return asked;
  });
export const remove = (store: StoreName, key: string): Promise<unknown> =>
  run(store, 'readwrite', (it) => it.delete(key));
export const clear = (store: StoreName, prefix = ''): Promise<unknown> =>
  run(store, 'readwrite', (it) => it.delete(within(prefix)));

/** Writes at least one value, in one transaction. */
export const writeAll = (
  store: StoreName,
  values: readonly (readonly [key: string, value: unknown])[],
): Promise<unknown> => run(store, 'readwrite', (it) => values.map(([key, value]) => it.put(value, key)).at(-1)!);
