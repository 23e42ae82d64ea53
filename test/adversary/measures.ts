import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from '../resources/processes.ts';
import { exchange } from '../support/clients/raw-client.ts';
import type { Service } from '../support/programs/server.ts';

/** What an attack cost the service. */
export interface Cost {
  /** By how many bytes the memory grew at most. */
  readonly memory: number;
  /** Milliseconds of processor time, of all threads, until it had nothing left to do. */
  readonly processor: number;
  /** The bytes by which the files of the data directory grew. */
  readonly disk: number;
  /** The bytes that were logged. */
  readonly log: number;
  /** Milliseconds of processor time that it used while the slowest check of its health waited: without the time that others took. */
  readonly health: number;
}

/** How often the memory is looked at, and health is asked for. */
const interval = 20;
/** How long a service may work on once all clients have gone. */
const patience = 30_000;

/** Measures what a service uses while something happens, and until it has nothing to do any more. */
export async function costOf(service: Service, happening: () => Promise<void>): Promise<Cost> {
  await quiet(service);
  const before = { ...totals(service), memory: memoryOf(service.pid) };
  let memory = 0;
  let health = 0;
  let goesOn = true;
  const look = (): void => void (memory = Math.max(memory, memoryOf(service.pid) - before.memory));
  const timer = setInterval(look, interval);
  const probes = (async () => {
    while (goesOn) {
      const sent = processorTime(service.pid);
      const { status } = await exchange(service.url, liveness(service));
      if (status !== 200) throw new Error(`health was answered with ${status}`);
      health = Math.max(health, processorTime(service.pid) - sent);
      await sleep(10 * interval);
    }
  })();
  try {
    await happening();
    goesOn = false;
    await probes;
    await quiet(service);
    look();
  } finally {
    goesOn = false;
    clearInterval(timer);
    await probes.catch(() => undefined);
  }
  const after = totals(service);
  return {
    ...{ memory, health },
    processor: after.processor - before.processor,
    disk: after.disk - before.disk,
    log: after.log - before.log,
  };
}

/** A request whose answer takes no more than that the service runs. */
function liveness({ url }: Service): Parameters<typeof exchange>[1] {
  return {
    method: 'GET',
    target: '/_stillage/live',
    headers: [
      ['host', new URL(url).host],
      ['connection', 'close'],
    ],
  };
}

function totals(service: Service): Pick<Cost, 'processor' | 'disk' | 'log'> {
  return { processor: processorTime(service.pid), disk: sizeOf(service.data), log: service.output.stdout.length };
}

/** A service was still at work long after all clients had gone. */
export class WorksForNobody extends Error {
  constructor() {
    super(`more than ${patience} of processor for nobody`);
  }
}

/** Returns the milliseconds of processor time that the threads of a process have used. */
function processorTime(pid: number): number {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    // In nanoseconds, where other files count hundredths of a second.
    sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  }
  return sum;
}

/** Waits until a service does next to nothing, twice in a row. Its answers show that it had a turn on a busy machine. */
async function quiet(service: Service): Promise<void> {
  const deadline = performance.now() + patience;
  for (let idle = 0; idle < 2;) {
    const [processor, log] = [processorTime(service.pid), service.output.stdout.length];
    await exchange(service.url, liveness(service));
    await sleep(40);
    const isIdle = processorTime(service.pid) - processor <= 10 && service.output.stdout.length - log < 1024;
    idle = isIdle ? idle + 1 : 0;
    if (performance.now() > deadline) throw new WorksForNobody();
  }
}

/** Returns the bytes that the files of a folder take on the disk. */
function sizeOf(folder: string): number {
  let sum = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    // What is removed in this moment takes nothing.
    const status = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false });
    if (status?.isFile()) sum += 512 * status.blocks;
  }
  return sum;
}
