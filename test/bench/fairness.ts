import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { stillage, type Contestant } from './contestants.ts';
import { batch, doomed, filled, folderOf } from './fairness-load.ts';
import { each } from './works.ts';

/** The loads that are measured, by the names of fairness-load.ts. */
const cases = [
  [],
  ['plain'],
  ['delimiter'],
  ['versions'],
  ['lists', 'uploads', 'deletes'],
] as const satisfies readonly (readonly string[])[];

/** The time that the load runs before it is measured, in milliseconds. */
const warmUp = 1000;
/** The number of calls of DeleteObjects that find their keys. */
const deletions = 16;

/** The times of GETs under a load, in milliseconds. */
interface Result {
  readonly load: string;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** p99 divided by that without a load. */
  readonly ratio: number;
  /** The requests of the load meanwhile, and while it warmed up. */
  readonly made: string;
}

/**
 * Measures how long a GET of 4 KiB takes while many other callers do long-running work: 32 list 1,000 keys, and in the last case 8
 * upload 64 MiB and 8 delete 1,000 keys with one request each.
 * @param keys in the bucket that is listed, in 100 folders
 */
export async function benchFairness(
  keys: number,
  { seconds, json }: { readonly seconds: number; readonly json: boolean },
): Promise<void> {
  const server = await stillage();
  try {
    await fill(server, keys);
    const results: Result[] = [];
    if (!json) console.log(row('load', 'GET/s', 'p50 ms', 'p99 ms', 'p99 / idle'));
    for (const load of cases) {
      const result = await measure(server, load, seconds * 1000, results[0]?.p99);
      results.push(result);
      const { perSecond, p50, p99, ratio, made } = result;
      const cells = [perSecond.toFixed(0), p50.toFixed(2), p99.toFixed(2), ratio.toFixed(1)];
      if (!json) console.log(`${row(result.load, ...cells)}   ${made}`);
    }
    if (json) console.log(JSON.stringify(results, undefined, 2));
  } finally {
    await server.stop();
  }
}

async function fill(server: Contestant, keys: number): Promise<void> {
  const put = (key: string, body: string | Uint8Array): Promise<string> =>
    server.send({ method: 'PUT', path: `${filled}/${key}`, body });
  await server.send({ method: 'PUT', path: filled });
  await put('small', new Uint8Array(4096));
  await each(keys, 64, (at) => put(`${folderOf(at)}/${String(at).padStart(9, '0')}`, ''));
  await each(deletions * batch, 64, (at) => put(doomed(at), ''));
}

async function measure(
  server: Contestant,
  load: readonly string[],
  milliseconds: number,
  idle: number | undefined,
): Promise<Result> {
  const script = join(import.meta.dirname, 'fairness-load.ts');
  const args = ['--import', 'tsx', script, server.url, String(milliseconds + 2 * warmUp), ...load];
  const child = load.length === 0 ? undefined : spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = child && once(child, 'close');
  let made = '';
  child?.stdout.setEncoding('utf8').on('data', (text: string) => (made += text.trim()));
  await new Promise((resolve) => setTimeout(resolve, 2 * warmUp));
  const times: number[] = [];
  const began = performance.now();
  while (performance.now() - began < milliseconds) {
    const sent = performance.now();
    await server.send({ method: 'GET', path: `${filled}/small` });
    times.push(performance.now() - sent);
  }
  const perSecond = (1000 * times.length) / (performance.now() - began);
  await ended;
  times.sort((a, b) => a - b);
  const percentile = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  const p99 = percentile(0.99);
  return { load: load.join(', ') || 'idle', perSecond, p50: percentile(0.5), p99, ratio: p99 / (idle ?? p99), made };
}

function row(load: string, ...cells: readonly string[]): string {
  return load.padEnd(28) + cells.map((cell) => cell.padStart(12)).join('');
}
