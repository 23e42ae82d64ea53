import { readFileSync } from 'node:fs';

/** The resources that processes have used. */
export interface Usage {
  /** Milliseconds of processor time since they began: all threads, and their system calls. In steps of 10. */
  readonly processor: number;
  /** Bytes of memory, without mapped files. */
  readonly memory: number;
}

/** Returns the resources that processes and their descendants have used according to /proc; undefined if it has none. */
export function usageOf(pids: readonly number[]): Usage | undefined {
  const usages = [...new Set(pids.flatMap(withDescendants))].map(usageOfProcess).filter((usage) => usage !== undefined);
  if (usages.length === 0) return undefined;
  return {
    processor: usages.reduce((sum, { processor }) => sum + processor, 0),
    memory: usages.reduce((sum, { memory }) => sum + memory, 0),
  };
}

function withDescendants(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    return [pid, ...children.map(Number).flatMap(withDescendants)];
  } catch {
    return [pid];
  }
}

function usageOfProcess(pid: number): Usage | undefined {
  try {
    return {
      processor: processorTime(readFileSync(`/proc/${pid}/stat`, 'utf8')),
      memory: anonymousMemory(readFileSync(`/proc/${pid}/status`, 'utf8')),
    };
  } catch {
    return undefined;
  }
}

/** Returns the milliseconds of processor time in `/proc/<pid>/stat`, whose ticks are hundredths of a second: proc(5). */
export function processorTime(stat: string): number {
  // The name of the program, in parentheses, may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Returns the bytes of anonymous memory in `/proc/<pid>/status`. */
export function anonymousMemory(status: string): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}
