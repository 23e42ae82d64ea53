import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../linearizability/random.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { runProgram } from '../support/programs/program.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { workersOf } from '../support/programs/worker-processes.ts';
import { SoakClient, type Tally } from './load.ts';
import { diskUsed, sample, tableSize } from './samples.ts';
import { flatnessOf, type Flatness, type Sample } from './verdict.ts';

export interface SoakOptions {
  readonly minutes: number;
  /** Requests per second of all clients together. */
  readonly rate: number;
  readonly clients: number;
  /** At least 2: the oldest one is never killed, so that its memory can be followed. */
  readonly workers: number;
  /** Seconds between two kills of a worker. */
  readonly killEvery: number;
  readonly seed: number;
}

/** The space that a data directory takes, in bytes, at the end of a run. */
interface Space {
  readonly whileRunning: number;
  /** After everything was deleted, and orphans of killed processes were removed by a scrub. */
  readonly whenEmpty: number;
  readonly tableBeforeCompaction: number;
  readonly tableAfterCompaction: number;
}

export interface SoakResult {
  readonly options: SoakOptions;
  readonly requests: number;
  readonly unanswered: number;
  readonly refused: number;
  /** The number of multipart uploads. */
  readonly uploads: number;
  readonly kills: number;
  /** Answers that no order of the requests explains, and errors that the service logged, except for the deaths of workers. */
  readonly faults: readonly string[];
  readonly flatness: readonly Flatness[];
  readonly space: Space;
  readonly isPassed: boolean;
  readonly samples: readonly Sample[];
}

/** A table without objects: settings, accounts, and the counters of the buckets. */
const mostOfEmptyTable = 1024 * 1024;
/** The record of a completed multipart upload, kept for a week so that a repeated completion gets the same answer. */
const mostOfUpload = 2048;
/** The directories of the blobs, and the other files in the data directory. */
const mostOfEmptyDirectory = 4 * 1024 * 1024;
const samplesOfRun = 240;
const leastBetweenSamples = 1000;
const mostFaults = 100;
/** Milliseconds, on a machine that is busy with other things. */
const mostUntilReplaced = 60_000;

/** Runs the service under load while workers are killed, then deletes everything. @param tell takes a line of progress */
export async function soak(options: SoakOptions, tell: (line: string) => void): Promise<SoakResult> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-soak-'));
  const data = join(folder, 'data');
  const args = ['--workers', String(options.workers), '--limit', 'minimumPartBytes=1'];
  const service = await startService({ data, args });
  const tally: Tally = { requests: 0, unanswered: 0, refused: 0, uploads: 0, faults: [], latencies: [] };
  const https = Array.from({ length: options.clients }, () => new PooledClient(service, alice, 2));
  try {
    await SoakClient.prepare(https[0]!);
    const clients = https.map(
      (http, at) => new SoakClient(`client-${at}`, http, new Random(options.seed * 1009 + at), tally),
    );
    const { samples, kills } = await underLoad(service, clients, tally, options, tell);
    const whileRunning = await diskUsed(data);
    tell('deleting everything');
    for (const client of clients) await client.clear();
    for (const http of https) http.close();
    const code = await stopKeeping(service);
    if (code !== 0) tally.faults.push(`the service stopped with ${String(code)}: ${service.output.stderr}`);
    const space = { whileRunning, ...(await spaceWhenEmpty(data, args)) };
    const flatness = flatnessOf(samples);
    const faults = [...tally.faults, ...problemsOf(service)].slice(0, mostFaults);
    const { requests, unanswered, refused, uploads } = tally;
    const isPassed = faults.length === 0 && flatness.every(({ isFlat }) => isFlat) && isBack(space, uploads);
    return { options, requests, unanswered, refused, uploads, kills, faults, flatness, space, isPassed, samples };
  } finally {
    for (const http of https) http.close();
    await service.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns whether the space of deleted objects has come back. @param uploads the number of multipart uploads */
export function isBack({ whenEmpty, tableBeforeCompaction, tableAfterCompaction }: Space, uploads: number): boolean {
  const others = whenEmpty - tableBeforeCompaction;
  return others <= mostOfEmptyDirectory && tableAfterCompaction <= mostOfEmptyTable + uploads * mostOfUpload;
}

async function underLoad(
  service: Service,
  clients: readonly SoakClient[],
  tally: Tally,
  options: SoakOptions,
  tell: (line: string) => void,
): Promise<{ readonly samples: readonly Sample[]; readonly kills: number }> {
  const random = new Random(options.seed);
  const duration = options.minutes * 60_000;
  const between = Math.max(leastBetweenSamples, duration / samplesOfRun);
  const began = performance.now();
  let isStopped = false;
  const work = Promise.all(
    clients.map((client) => client.run((1000 * clients.length) / options.rate, () => isStopped)),
  );
  const samples: Sample[] = [];
  const replaced = replacements(service);
  let kills = 0;
  let nextKill = began + options.killEvery * 1000;
  try {
    for (let at = 1; performance.now() - began < duration; at += 1) {
      await Promise.race([work, sleep(Math.max(0, began + at * between - performance.now()))]);
      const latencies = tally.latencies.splice(0);
      samples.push(await sample(service.pid, service.data, latencies));
      if (at % Math.max(1, Math.round(10_000 / between)) === 0) tell(progress(samples.at(-1)!, tally, kills, began));
      // Whoever kills a worker that does not serve yet learns nothing, and the log has it as an error.
      if (performance.now() < nextKill || replaced() < kills) continue;
      nextKill += options.killEvery * 1000;
      const [, ...younger] = await workersOf(service);
      if (younger.length === 0) continue;
      process.kill(random.oneOf(younger), 'SIGKILL');
      kills += 1;
    }
  } finally {
    isStopped = true;
    await work;
  }
  const last = performance.now() + mostUntilReplaced;
  while (replaced() < kills && performance.now() < last) await sleep(leastBetweenSamples);
  if (replaced() < kills) tally.faults.push(`${kills - replaced()} killed workers were not replaced`);
  return { samples, kills };
}

/** Returns a function that counts the workers which have been started in the place of others, and serve. */
function replacements({ output }: Service): () => number {
  const text = '"message":"a worker was started"';
  let count = 0;
  let from = 0;
  return () => {
    for (let at = output.stdout.indexOf(text, from); at >= 0; at = output.stdout.indexOf(text, from)) {
      count += 1;
      from = at + text.length;
    }
    return count;
  };
}

/** Stops the service, and keeps its data. */
async function stopKeeping({ process: child, pid }: Service): Promise<number | null> {
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  process.kill(pid, 'SIGTERM');
  return exited;
}

/** Removes the leftovers of killed processes, compacts the table, and restarts the service. */
async function spaceWhenEmpty(data: string, args: readonly string[]): Promise<Omit<Space, 'whileRunning'>> {
  await command(['release', '--data', data]);
  const scrub = ['scrub', '--min-age', '0', '--data', data];
  // It ends with 1 if there was something to remove; a second one must find nothing.
  const found = await command([...scrub, '--repair'], [0, 1]);
  const others = [...found.matchAll(/^\d+ × (?!orphan-blob:).*$/gm)].map(([line]) => line);
  if (others.length > 0) throw new Error(`killed workers have left more than orphans: ${others.join('; ')}`);
  await command(scrub);
  const [whenEmpty, tableBeforeCompaction] = [await diskUsed(data), await tableSize(data)];
  await command(['compact', '--data', data]);
  const tableAfterCompaction = await tableSize(data);
  const again = await startService({ data, args });
  const http = new PooledClient(again);
  const { status } = await http.send({ path: '/plain' });
  http.close();
  await again.stop();
  if (status !== 200) throw new Error(`a listing after the compaction was answered ${status}`);
  return { whenEmpty, tableBeforeCompaction, tableAfterCompaction };
}

async function command(args: readonly string[], codes: readonly number[] = [0]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(args, { killAfter: 10 * 60_000 });
  if (code === null || !codes.includes(code)) {
    throw new Error(`stillage ${args.join(' ')} ended with ${String(code)}: ${stdout}${stderr}`);
  }
  return stdout;
}

/** Returns the errors that the service has logged, except for the deaths of workers. */
function problemsOf({ output }: Service): readonly string[] {
  return output.stdout
    .split('\n')
    .filter((line) => line.includes('"level":"error"') && !line.includes('"message":"a worker died"'));
}

function progress(last: Sample, tally: Tally, kills: number, began: number): string {
  const MiB = (bytes: number | undefined): string => (bytes === undefined ? '?' : (bytes / 2 ** 20).toFixed(1));
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  const { primaryMemory, oldestWorkerMemory, tableSize: table, diskUsed: disk, latencyMedian, latencyP99 } = last;
  return [
    `${minutes} min`,
    `${tally.requests} requests, ${tally.unanswered} unanswered, ${tally.refused} refused, ${kills} kills, ${tally.faults.length} faults`,
    `memory ${MiB(primaryMemory)} + ${MiB(oldestWorkerMemory)} MiB, handles ${last.primaryHandles ?? '?'} + ${last.oldestWorkerHandles ?? '?'}`,
    `table ${MiB(table)} MiB, disk ${MiB(disk)} MiB`,
    `latency ${latencyMedian?.toFixed(1) ?? '?'} ms, p99 ${latencyP99?.toFixed(1) ?? '?'} ms`,
  ].join('; ');
}
