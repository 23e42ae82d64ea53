import type { WorkerProcess } from './messages.ts';

/** The interval between two looks at a worker, in milliseconds. */
const interval = 1000;
/** The looks in a row without an answer after which a worker counts as silent. Being wrong costs nothing: others get its new connections. */
const silentAfter = 3;
/**
 * The looks in a row without an answer after which a worker counts as hung. Being wrong costs its connections. Requests yield every few
 * milliseconds, and a pause of the garbage collector takes less than a second: the rest is for processors that are shared with many others,
 * and for a disk that stalls.
 */
const hungAfter = 30;
/** The same for a worker that has not answered yet: it loads the program, which takes long on a busy machine. */
const notStartedAfter = 120;

/** What is done about a worker that does not answer. */
export interface Watcher {
  readonly silent: () => void;
  readonly answersAgain: () => void;
  /** Called once, and then the watch is over. @param looks for how many seconds it has not answered */
  readonly hung: (seconds: number) => void;
}

/**
 * Watches whether a worker handles messages. Counts its own looks and no time: if the whole machine or this process was suspended, or gets
 * no processor, it looks as rarely as the worker can answer, and a single look counts for all that time.
 * @returns ends the watch
 */
export function watch(worker: Pick<WorkerProcess, 'settle'>, watcher: Watcher): () => void {
  let missed = 0;
  let hasAnswered = false;
  let isAsked = false;
  const answered = (): void => {
    if (hasAnswered && missed >= silentAfter) watcher.answersAgain();
    hasAnswered = true;
    isAsked = false;
    missed = 0;
  };
  const ask = (): void => {
    isAsked = true;
    // One that has ended is no longer watched.
    worker.settle().then(answered, () => undefined);
  };
  ask();
  const timer = setInterval(() => {
    if (!isAsked) return ask();
    missed += 1;
    // One that loads the program has no connections yet.
    if (hasAnswered && missed === silentAfter) watcher.silent();
    if (missed < (hasAnswered ? hungAfter : notStartedAfter)) return;
    clearInterval(timer);
    watcher.hung((missed * interval) / 1000);
  }, interval);
  return () => clearInterval(timer);
}
