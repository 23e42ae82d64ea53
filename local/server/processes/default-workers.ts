import { thisMachine, usableProcessors } from '../capacity/machine.ts';

/** More add little: see the shares of the primary in docs/adr/0074-the-primary-serves-as-well.md. */
const most = 4;
/** The memory of the machine for each process, in bytes: four times what one takes, as its bodies and caches take some, too. */
const memoryOfProcess = 512 * 1024 * 1024;

/** Returns the number of processes that serve, of a service for which none is set. */
export function defaultWorkers(processors = usableProcessors(), memory = thisMachine().memory): number {
  return Math.max(1, Math.min(processors, most, Math.floor(memory / memoryOfProcess)));
}
