/**
 * Does some work, and counts the turns of the event loop during it.
 * @param work receives a function that returns the number of turns so far
 */
export async function countTurns<Result>(
  work: (turnsUntilNow: () => number) => Promise<Result>,
): Promise<{ result: Result; turns: number }> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  try {
    const result = await work(() => turns);
    return { result, turns };
  } finally {
    isOver = true;
  }
}
