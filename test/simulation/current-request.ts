import { AsyncLocalStorage } from 'node:async_hooks';

/** The request that some code serves. */
export interface CurrentRequest {
  readonly caller: string;
  readonly operation: string;
  /** When it was sent, in milliseconds since the epoch. */
  readonly began: number;
}

const storage = new AsyncLocalStorage<CurrentRequest>();

/** Returns the request that the running code serves; undefined if it serves none. */
export function currentRequest(): CurrentRequest | undefined {
  return storage.getStore();
}

/** Runs code, and all that it starts, as serving a request. */
export function serving<Result>(request: CurrentRequest, work: () => Result): Result {
  return storage.run(request, work);
}
