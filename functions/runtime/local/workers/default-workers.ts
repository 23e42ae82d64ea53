import { availableParallelism } from 'node:os';
import { thisMachine } from '../capacity/machine.ts';

/** With fewer processors, workers would compete with the process that commits for them. */
const fewestProcessors = 4;
/** More add little: see the shares of the primary in docs/performance.md. */
const most = 4;
/** The memory of the machine for each worker, in bytes: four times what one takes, as its bodies and caches take some, too. */
const memoryOfWorker = 512 * 1024 * 1024;

/** Returns the number of workers of a service for which none is set. */
export function defaultWorkers(processors = availableParallelism(), memory = thisMachine().memory): number {
  if (processors < fewestProcessors) return 1;
  return Math.max(1, Math.min(processors - 1, most, Math.floor(memory / memoryOfWorker)));
}
