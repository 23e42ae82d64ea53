import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { workersOf } from '../support/programs/worker-processes.ts';
import { quantile, type Sample } from './verdict.ts';

/** The resources that a process uses. */
interface ProcessUse {
  /** Without mapped files: those of the table are mapped, and the system takes their pages back when it likes. */
  readonly memory: number;
  readonly handles: number;
}

/** A process that ended while it was looked at. */
const isGone = ({ code }: NodeJS.ErrnoException): boolean => code === 'ENOENT' || code === 'ESRCH';

/** Returns the resources that a process uses according to Linux, or undefined if it has ended. */
async function useOf(pid: number): Promise<ProcessUse | undefined> {
  try {
    const [status, handles] = await Promise.all([
      readFile(`/proc/${pid}/status`, 'utf8'),
      readdir(`/proc/${pid}/fd`).then(({ length }) => length),
    ]);
    const kilobytes = /^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1];
    return kilobytes === undefined ? undefined : { memory: Number(kilobytes) * 1024, handles };
  } catch (error) {
    if (isGone(error as NodeJS.ErrnoException)) return undefined;
    throw error;
  }
}

/** Returns how much of the disk the files below a directory take, in bytes. */
export async function diskUsed(directory: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) sum += await diskUsed(path);
    else
      sum += await stat(path)
        .then(({ blocks }) => blocks * 512)
        .catch(unlessGone);
  }
  return sum;
}

function unlessGone(error: NodeJS.ErrnoException): number {
  if (isGone(error)) return 0;
  throw error;
}

/** Returns how much of the disk the table takes, in bytes. */
export async function tableSize(data: string): Promise<number> {
  return (await stat(join(data, 'table', 'data.mdb'))).blocks * 512;
}

/**
 * Takes a sample of a service with workers.
 * @param latencies of the requests since the last sample, in milliseconds
 */
export async function sample(pid: number, data: string, latencies: readonly number[]): Promise<Sample> {
  const [oldest] = await workersOf({ pid });
  const [primary, worker, table, disk] = await Promise.all([
    useOf(pid),
    oldest === undefined ? undefined : useOf(oldest),
    tableSize(data),
    diskUsed(data),
  ]);
  const hasLatencies = latencies.length > 0;
  return {
    primaryMemory: primary?.memory,
    primaryHandles: primary?.handles,
    oldestWorkerMemory: worker?.memory,
    oldestWorkerHandles: worker?.handles,
    tableSize: table,
    diskUsed: disk,
    latencyMedian: hasLatencies ? quantile(latencies, 0.5) : undefined,
    latencyP99: hasLatencies ? quantile(latencies, 0.99) : undefined,
  };
}
