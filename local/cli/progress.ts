import { second } from '../../shared/ports/durations.ts';

/** The interval between two lines of progress, in milliseconds. */
const tellEvery = second;

/** Returns a function that writes a line of progress to standard error, at most once a second. */
export function sparingly(line: () => string): () => void {
  let toldAt = Date.now();
  return () => {
    if (Date.now() - toldAt < tellEvery) return;
    toldAt = Date.now();
    process.stderr.write(`${line()}\n`);
  };
}
