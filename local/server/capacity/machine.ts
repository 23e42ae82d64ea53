import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** The resources that a process may use. */
export interface Machine {
  /** The memory of the machine, or of its control group, in bytes. */
  readonly memory: number;
  /** The maximum size of the JavaScript heap in bytes. */
  readonly heap: number;
  /** The number of free file handles; Infinity if the system does not report it. */
  readonly freeHandles: number;
}

/** Returns the resources of this process. Node.js has raised its limit of file handles to the hard limit: `ulimit -Hn`. */
export function thisMachine(): Machine {
  const total = totalmem();
  // Without a control group, it is zero, or more than the machine has.
  const constrained = process.constrainedMemory();
  return {
    memory: constrained > 0 ? Math.min(total, constrained) : total,
    heap: getHeapStatistics().heap_size_limit,
    freeHandles: freeHandles(),
  };
}

/** How many memories of WebAssembly a process may have: those of its checksums and of `fetch`, on its thread and on those for digests. */
const wasmMemories = 8;

/** The part of WebAssembly that is used here, whose types belong to browsers. */
const { Memory } = (globalThis as { WebAssembly?: { Memory: new (of: { initial: number }) => object } }).WebAssembly!;

/**
 * Tells whether this process can have its memories of WebAssembly. V8 reserves some 10 GiB of addresses for each, which `ulimit -v` limits,
 * unless Node.js is told to check bounds itself: https://nodejs.org/api/cli.html#--disable-wasm-trap-handler
 */
export function hasAddressSpace(): boolean {
  try {
    Array.from({ length: wasmMemories }, () => new Memory({ initial: 1 }));
    return true;
  } catch {
    return false;
  }
}

/** Returns the number of processors that this process may use. */
export function usableProcessors(): number {
  return Math.min(
    availableParallelism(),
    processorQuota((path) => readFileSync(path, 'utf8')),
  );
}

/**
 * Returns how many processors the control group may use, rounded up; Infinity without a limit. A container sees its own group as the root,
 * a service of systemd has a path. `availableParallelism()` regards this only in later versions of Node.js.
 * https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files
 * @param read returns the content of a file. Throws if there is none
 */
export function processorQuota(read: (path: string) => string): number {
  const readIfAny = (path: string): string => {
    try {
      return read(path);
    } catch {
      return '';
    }
  };
  const path = /^0::(\/.+)$/m.exec(readIfAny('/proc/self/cgroup'))?.[1] ?? '';
  const quotas = [`/sys/fs/cgroup${path}/cpu.max`, '/sys/fs/cgroup/cpu.max'].map((file) => {
    const [quota, period] = readIfAny(file).split(' ');
    const processors = Math.ceil(Number(quota) / Number(period));
    return processors > 0 ? processors : Infinity;
  });
  return Math.min(...quotas);
}

/** Returns the number of free file handles, which only Linux reports. Elsewhere, accepting a connection or opening a file fails first. */
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
