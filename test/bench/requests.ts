import { bare, running, stillage, type Contestant } from './contestants.ts';
import { bucket, each, works, type Work } from './works.ts';

/** What {@link benchRequests} may be told. */
export interface RequestBenchOptions {
  /** Another store, which runs already. */
  readonly endpoint?: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** The processes of the other store, for their processor time. */
  readonly pid: readonly number[];
  /** The pieces of work whose names match; undefined: all. */
  readonly only?: RegExp;
  readonly rounds: number;
  readonly json: boolean;
}

/** One piece of work of one server, in `--json`. */
export interface Result {
  readonly work: string;
  readonly server: string;
  readonly perSecond: number;
  readonly bytesPerSecond: number | null;
  /** Milliseconds of the server's processors for one. */
  readonly processorMilliseconds: number | null;
}

interface Measure {
  readonly perSecond: number;
  /** Milliseconds of the server's processors, for one. */
  readonly processor: number | undefined;
}

async function measure(server: Contestant, work: Work, round: number): Promise<Measure> {
  server.reconnect();
  await work.prepare?.(server, round);
  const processorBefore = server.processorTime();
  const started = performance.now();
  await each(work.count, work.callers, (at) => work.act(server, at, round));
  const seconds = (performance.now() - started) / 1000;
  const processorAfter = server.processorTime();
  const used =
    processorBefore === undefined || processorAfter === undefined ? undefined : processorAfter - processorBefore;
  return { perSecond: work.count / seconds, processor: used && used / work.count };
}

/** Returns the middle one of numbers. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

function resultOf({ name: work, bytes }: Work, server: string, measures: readonly Measure[]): Result {
  const perSecond = median(measures.map((one) => one.perSecond));
  const processor = measures.map((one) => one.processor).filter((one) => one !== undefined);
  return {
    work,
    server,
    perSecond,
    bytesPerSecond: bytes === undefined ? null : perSecond * bytes,
    processorMilliseconds: processor.length === 0 ? null : median(processor),
  };
}

/** Returns a result as the table shows it. */
export function shown(result: Result | undefined): string {
  if (result === undefined) return '-';
  const { perSecond, bytesPerSecond, processorMilliseconds } = result;
  const rate =
    bytesPerSecond === null
      ? `${perSecond.toFixed(perSecond < 10 ? 1 : 0)} /s`
      : `${(bytesPerSecond / 2 ** 20).toFixed(0)} MiB/s`;
  return processorMilliseconds === null ? rate : `${rate}, ${processorMilliseconds.toPrecision(2)} ms`;
}

/** How often the first server's rate is the other's. */
function compared(own: Result | undefined, other: Result | undefined): string {
  return own && other ? (own.perSecond / other.perSecond).toFixed(2) : '';
}

const width = 24;

/**
 * How fast the service is, beside a bare `node:http` server that does the least a store must do, and beside another store if one is named: by
 * themselves the numbers say more of the machine than of the service. Each piece of work is done in rounds, by one server after the
 * other in each, and the medians are shown: the rate, the processor time of the server for one of them, and how the rate compares.
 */
export async function benchRequests(options: RequestBenchOptions): Promise<void> {
  const { endpoint, pid } = options;
  const servers = [await stillage(), await bare()];
  if (endpoint !== undefined) {
    servers.push(running(endpoint, { accessKeyId: options.accessKey, secretAccessKey: options.secretKey }, pid));
  }
  const all: Result[] = [];
  try {
    for (const server of servers.filter(({ isStore }) => isStore)) await server.send({ method: 'PUT', path: bucket });
    const columns = servers.flatMap(({ name }, at) => [name.padStart(width), ...(at > 0 ? ['ratio'.padStart(7)] : [])]);
    if (!options.json) console.log(`${''.padEnd(28)}${columns.join('')}`);
    for (const work of works.filter(({ name }) => options.only?.test(name) ?? true)) {
      const results = await inRounds(servers, work, options.rounds);
      all.push(...results.filter((result) => result !== undefined));
      const cells = results.map((result, at) => {
        const ratio = at === 0 ? '' : compared(results[0], result).padStart(7);
        return shown(result).padStart(width) + ratio;
      });
      if (!options.json) console.log(`${work.name.padEnd(28)}${cells.join('')}`);
    }
  } finally {
    for (const server of servers) await server.stop();
  }
  if (options.json) console.log(JSON.stringify(all, undefined, 2));
}

/** For each server, what it did; nothing for one that knows no such work. */
export async function inRounds(
  servers: readonly Contestant[],
  work: Work,
  rounds: number,
): Promise<readonly (Result | undefined)[]> {
  const measures = servers.map((): Measure[] => []);
  // The first round is not counted: the compiler has much to do in it.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, server] of servers.entries()) {
      if (!server.isStore && !work.isPlain) continue;
      const measured = await measure(server, work, round);
      if (round > 0) measures[at]!.push(measured);
    }
  }
  return servers.map(({ name }, at) => (measures[at]!.length === 0 ? undefined : resultOf(work, name, measures[at]!)));
}
