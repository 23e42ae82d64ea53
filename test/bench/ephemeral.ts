import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { emulatorKinds, type Emulator, type EmulatorKind } from './emulators.ts';
import { median } from './requests/statistics.ts';
import { each, inRounds, shown, type Work } from './rounds.ts';

/** Options of {@link benchEphemeral}. */
export interface EphemeralBenchOptions {
  /** A directory in which s3rver is installed; undefined: npm installs it into a temporary one. */
  readonly s3rver?: string;
  readonly rounds: number;
  readonly json: boolean;
}

const small = Buffer.alloc(4 * 1024, 'x');
const large = Buffer.alloc(8 * 2 ** 20, 'x');
const keys = 500;
const smallPath = (at: number): string => `/bench/small/${at % keys}`;
const largePath = (at: number): string => `/bench/large/${at % 4}`;

const works: readonly Work[] = [
  {
    name: 'PUT 4 KiB, 1 caller',
    callers: 1,
    count: 200,
    act: (server, at) => server.send({ method: 'PUT', path: smallPath(at), body: small }),
  },
  {
    name: 'PUT 4 KiB, 32 callers',
    callers: 32,
    count: keys,
    act: (server, at) => server.send({ method: 'PUT', path: smallPath(at), body: small }),
  },
  {
    name: 'GET 4 KiB, 1 caller',
    callers: 1,
    count: 200,
    act: (server, at) => server.send({ method: 'GET', path: smallPath(at) }),
  },
  {
    name: 'GET 4 KiB, 32 callers',
    callers: 32,
    count: 1000,
    act: (server, at) => server.send({ method: 'GET', path: smallPath(at) }),
  },
  {
    name: 'PUT 8 MiB, 2 callers',
    callers: 2,
    count: 8,
    bytes: large.length,
    act: (server, at) => server.send({ method: 'PUT', path: largePath(at), body: large }),
  },
  {
    name: 'GET 8 MiB, 2 callers',
    callers: 2,
    count: 8,
    bytes: large.length,
    act: (server, at) => server.send({ method: 'GET', path: largePath(at) }),
  },
];

/** How many objects are there before each reset. */
const smallWorld = 20;
const resets = 20;

/** A row of the table: a text for each server. */
interface Row {
  readonly name: string;
  readonly cells: readonly string[];
  /** One for each server; null: it cannot. */
  readonly values: readonly (number | null)[];
  readonly unit: 'ms' | '/s';
}

/**
 * Compares servers for tests: their starts, PUT, GET and reset, each server in a process of its own, one at a time in each round. Missing
 * servers are named, with the packages to install.
 */
export async function benchEphemeral({ s3rver, rounds, json }: EphemeralBenchOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-bench-'));
  const loadBefore = loadavg()[0]!;
  const running: Emulator[] = [];
  try {
    const kinds = await emulatorKinds(folder, s3rver);
    const present = kinds.filter((kind) => 'start' in kind);
    const rows: Row[] = [];
    const add = (row: Row): void => {
      rows.push(row);
      if (!json) console.log(`${row.name.padEnd(40)}${row.cells.map((cell) => cell.padStart(width)).join('')}`);
    };
    if (!json) console.log(`${''.padEnd(40)}${present.map(({ name }) => name.padStart(width)).join('')}`);
    add(await starts(present, rounds, running));
    add(await times('start again in the process, first PUT', running, rounds, (server) => server.startAgain?.()));
    for (const work of works) {
      const results = await inRounds(running, work, rounds);
      const values = results.map((result) => result?.perSecond ?? null);
      add({ name: work.name, cells: results.map(shown), values, unit: '/s' });
    }
    add(await times(`reset of ${smallWorld} objects`, running, resets, resetOf));
    const missing = kinds.flatMap((kind) => ('missing' in kind ? [{ name: kind.name, reason: kind.missing }] : []));
    const machine = `Node.js ${process.version} on ${cpus().length} × ${cpus()[0]!.model.trim()}`;
    const load = { before: loadBefore, after: loadavg()[0]! };
    if (json) {
      const servers = present.map(({ name }) => name);
      const measured = rows.map(({ name, unit, values }) => ({ name, unit, values }));
      console.log(JSON.stringify({ machine, load, servers, measured, missing }, undefined, 2));
    } else {
      for (const { name, reason } of missing) console.log(`${name}: not measured. ${reason}`);
      console.log(`${machine}; load average ${load.before.toFixed(1)} before, ${load.after.toFixed(1)} after`);
    }
  } finally {
    for (const server of running) await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const width = 24;

/** Measures starts of processes. @param running receives those of the last round, which go on running */
async function starts(
  kinds: readonly Extract<EmulatorKind, { start: unknown }>[],
  rounds: number,
  running: Emulator[],
): Promise<Row> {
  const measured = kinds.map((): number[] => []);
  // The first round is not counted: it reads the files from the disk.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, kind] of kinds.entries()) {
      const server = await kind.start();
      if (round > 0) measured[at]!.push(server.started);
      if (round === rounds) running.push(server);
      else await server.stop();
    }
  }
  return rowOf('start of the process, first PUT', measured);
}

/** Measures something in rounds, of which the first is not counted. */
async function times(
  name: string,
  servers: readonly Emulator[],
  rounds: number,
  measure: (server: Emulator) => Promise<number> | undefined,
): Promise<Row> {
  const measured = servers.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, server] of servers.entries()) {
      const time = await measure(server);
      if (time !== undefined && round > 0) measured[at]!.push(time);
    }
  }
  return rowOf(name, measured);
}

function rowOf(name: string, measured: readonly (readonly number[])[]): Row {
  const values = measured.map((numbers) => (numbers.length === 0 ? null : median(numbers)));
  const cells = values.map((value) => (value === null ? '-' : `${value.toFixed(value < 10 ? 1 : 0)} ms`));
  return { name, cells, values, unit: 'ms' };
}

/**
 * Creates some objects, and resets the server.
 * @returns undefined for a server that cannot be reset
 * @throws Error if an object is left
 */
function resetOf(server: Emulator): Promise<number> | undefined {
  if (server.reset === undefined) return undefined;
  const measure = async (reset: () => Promise<number>): Promise<number> => {
    await each(smallWorld, 8, (at) => server.send({ method: 'PUT', path: `/bench/world/${at}`, body: small }));
    const time = await reset();
    const listing = await server.send({ method: 'GET', path: '/bench', query: 'list-type=2' });
    if (listing.includes('<Key>')) throw new Error(`${server.name} has objects after a reset`);
    return time;
  };
  return measure(() => server.reset!());
}
