/**
 * Runs a task for each element of a stream, at most `most` at a time. After the first failure it starts no more, waits
 * for the running tasks, and rejects.
 */
export async function sideBySide<T>(
  stream: AsyncIterable<T>,
  most: number,
  task: (one: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  for await (const one of stream) {
    const run = task(one)
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => running.delete(run));
    running.add(run);
    if (running.size >= most) await Promise.race(running);
    if (failure) break;
  }
  await Promise.all(running);
  if (failure) throw failure.error;
}
