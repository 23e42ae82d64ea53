/** Runs `each` for every element, at most `width` at a time, in no particular order. Rejects with the first failure. */
export async function inParallel<One>(
  many: AsyncIterable<One> | Iterable<One>,
  width: number,
  each: (one: One) => Promise<void>,
): Promise<void> {
  const iterator = elementsOf(many);
  // Async generators queue calls of next(), so no two workers get the same element.
  const work = async (): Promise<void> => {
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) await each(step.value);
  };
  await Promise.all(Array.from({ length: width }, work));
}

async function* elementsOf<One>(many: AsyncIterable<One> | Iterable<One>): AsyncGenerator<One> {
  yield* many;
}
