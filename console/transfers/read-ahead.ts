/**
 * Reads up to `limit` values of a source before they are asked for, so that a job knows early how much there is to do, and yields
 * them in their order.
 */
export async function* readAhead<T>(
  source: AsyncIterable<T>,
  limit: number,
  listeners: { readonly read: (value: T) => void; readonly ended: () => void },
): AsyncGenerator<T> {
  const iterator = source[Symbol.asyncIterator]();
  const pending: Promise<IteratorResult<T>>[] = [];
  const ask = (): void => {
    const next = iterator.next().then((result) => {
      if (result.done) listeners.ended();
      else listeners.read(result.value);
      return result;
    });
    // Its failure is thrown when its turn comes.
    next.catch(() => undefined);
    pending.push(next);
  };
  for (let count = 0; count < limit; count++) ask();
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    const result = await next;
    if (result.done) return;
    ask();
    yield result.value;
  }
}
