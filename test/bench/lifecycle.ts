import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openData } from '../../local/server/data-directory/data-directory.ts';
import { lifecycleDeps } from '../../functions/compose/lifecycle.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { seedBucket } from './lifecycle-bucket.ts';

const sampleTime = 100;

interface Outcome {
  readonly seconds: number;
  /** Anonymous memory in MiB over time: the memory of the process without the table's file. */
  readonly memory: readonly number[];
  readonly stdout: string;
}

/** Runs the command, and kills it after so many milliseconds. */
async function run(data: string, killAfter?: number): Promise<Outcome> {
  const began = performance.now();
  const args = ['bin/stillage.cjs', 'run', 'apply-lifecycle', '--json', '--data', data];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const memory: number[] = [];
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  const sampler = setInterval(() => {
    void readFile(`/proc/${child.pid}/status`, 'utf8')
      .then((status) => memory.push(Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024))
      .catch(() => undefined);
    if (killAfter !== undefined && performance.now() - began > killAfter) child.kill('SIGKILL');
  }, sampleTime);
  await new Promise((resolve) => child.once('close', resolve));
  clearInterval(sampler);
  return { seconds: (performance.now() - began) / 1000, memory, stdout };
}

function report(name: string, { seconds, memory, stdout }: Outcome): void {
  const quarters = [0.25, 0.5, 0.75, 1].map((part) => {
    const some = memory.slice(0, Math.max(1, Math.floor(memory.length * part)));
    return Math.round(Math.max(...some, 0));
  });
  console.log(`${name}: ${seconds.toFixed(1)} s, memory up to ${quarters.join(', ')} MiB by quarter of the time`);
  if (stdout === '') return;
  const { passes } = JSON.parse(stdout) as { passes: Record<string, unknown>[] };
  for (const pass of passes) console.log(`  ${JSON.stringify(pass)}`);
  const keys = passes.reduce((sum, pass) => sum + Number(pass['keys']), 0);
  console.log(`  ${Math.round(keys / seconds).toLocaleString('en')} keys/s, the start of the process included`);
}

/**
 * How fast lifecycle rules are applied on the embedded store, and in how much memory: makes objects of which a share is due, and runs
 * `stillage run apply-lifecycle`: killed in the middle, once more, and again when nothing is due any more.
 */
export async function benchLifecycle(objects: number, due: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-bench-'));
  try {
    const data = join(folder, 'data');
    const opened = await openData(data);
    const deps = lifecycleDeps({ ...opened, clock: new SystemClock(), randomness: new CryptoRandomness() });
    const began = performance.now();
    await seedBucket(deps, 'bench', objects, due);
    const seconds = (performance.now() - began) / 1000;
    console.log(`${objects.toLocaleString('en')} objects made in ${seconds.toFixed(1)} s, ${due * 100} % of them due`);
    await opened.table.close();
    // About half-way: a pass takes a third of the time that making the objects took, and as long again for those that are due.
    report('killed', await run(data, 400 + seconds * 1000 * (0.05 + due / 2)));
    report('gone on, and done again', await run(data));
    report('with nothing due', await run(data));
  } finally {
    await rm(folder, { recursive: true });
  }
}
