/** Storage that outlives a reload: keys that cannot be read, and the state of incomplete uploads. Never a secret or a link. */
const name = 'stillage';
const stores = ['session', 'uploads'] as const;
type StoreName = (typeof stores)[number];

let opened: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  return (opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      for (const store of stores) request.result.createObjectStore(store);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('no storage'));
  }));
}

async function run(
  store: StoreName,
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => Pick<IDBRequest, 'result' | 'error'> & EventTarget,
): Promise<unknown> {
  const database = await open();
  return new Promise((resolve, reject) => {
    const request = act(database.transaction(store, mode).objectStore(store));
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('no storage')));
  });
}

export const read = (store: StoreName, key: string): Promise<unknown> => run(store, 'readonly', (it) => it.get(key));
export const readAll = (store: StoreName): Promise<unknown> => run(store, 'readonly', (it) => it.getAll());
export const write = (store: StoreName, key: string, value: unknown): Promise<unknown> =>
  run(store, 'readwrite', (it) => it.put(value, key));
export const remove = (store: StoreName, key: string): Promise<unknown> =>
  run(store, 'readwrite', (it) => it.delete(key));
export const clear = (store: StoreName): Promise<unknown> => run(store, 'readwrite', (it) => it.clear());
