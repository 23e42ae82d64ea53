import { readdirSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** The resources that a process may use. */
export interface Machine {
  /** In bytes: that of the machine, or of its control group. */
  readonly memory: number;
  /** The most that the heap of JavaScript may grow to, in bytes. */
  readonly heap: number;
  /** File handles that are still free; Infinity if the system does not tell. */
  readonly freeHandles: number;
}

/** Returns what this process may use. Node.js has raised its limit of file handles as far as it may: `ulimit -Hn`. */
export function thisMachine(): Machine {
  const total = totalmem();
  // Zero, or more than there is, without a control group.
  const constrained = process.constrainedMemory();
  return {
    memory: constrained > 0 ? Math.min(total, constrained) : total,
    heap: getHeapStatistics().heap_size_limit,
    freeHandles: freeHandles(),
  };
}

/** Linux tells. Elsewhere, accepting a connection or opening a file fails first. */
function freeHandles(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = /^Max open files +(\d+|unlimited) /m.exec(limits)?.[1];
    if (soft === undefined || soft === 'unlimited') return Infinity;
    return Number(soft) - readdirSync('/proc/self/fd').length;
  } catch {
    return Infinity;
  }
}
