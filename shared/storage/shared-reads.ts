/**
 * Reads shared between requests. A request may use only a read that began after the request arrived: the result is then
 * as fresh as a read by the request itself. So at most one read per key is running and one waiting, however many
 * requests ask.
 */
export class SharedReads<Key, Value> {
  readonly #read: (key: Key) => Promise<Value>;
  readonly #running = new Map<Key, Promise<Value>>();
  readonly #waiting = new Map<Key, Promise<Value>>();

  constructor(read: (key: Key) => Promise<Value>) {
    this.#read = read;
  }

  get(key: Key): Promise<Value> {
    const running = this.#running.get(key);
    if (running === undefined) return this.#start(key);
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting;
    const next = running
      .catch(() => undefined)
      .then(() => {
        this.#waiting.delete(key);
        return this.#start(key);
      });
    this.#waiting.set(key, next);
    return next;
  }

  #start(key: Key): Promise<Value> {
    const read = this.#read(key);
    const end = (): void => {
      if (this.#running.get(key) === read) this.#running.delete(key);
    };
    this.#running.set(key, read);
    // Before the callers that wait for it continue.
    read.then(end, end);
    return read;
  }
}
