import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { seedBucket } from '../bench/lifecycle-bucket.ts';
import { openData, type DataDirectory } from '../../local/server/data-directory/data-directory.ts';
import { lifecycleDeps } from '../../functions/compose/lifecycle.ts';
import type { LifecycleDeps } from '../../shared/lifecycle/apply-lifecycle.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { partition } from '../../shared/storage/table/keys/keys.ts';

const bucket = 'bucket';
const objects = 8000;

let data: string;
let opened: DataDirectory;
let deps: LifecycleDeps;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'stillage-lifecycle-'));
  opened = await openData(data);
  deps = lifecycleDeps({ ...opened, clock: new SystemClock(), randomness: new CryptoRandomness() });
});
afterEach(async () => {
  await opened.table.close();
  await rm(data, { recursive: true });
});

interface Run {
  readonly process: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
}

function run(): Run {
  const command = ['bin/stillage.cjs', 'run', 'apply-lifecycle', '--json', '--data', data];
  const child = spawn(process.execPath, command, { cwd: join(import.meta.dirname, '../..') });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { process: child, ended: ended.then((code) => ({ code, ...output })) };
}

/** How many objects of the slices that are left have expired, as far as that is noted. */
async function noted(): Promise<number> {
  const { items } = await opened.table.query(partition.lifecycleSlices);
  return items.reduce((sum, { attributes }) => sum + (attributes['tally'] as { expired: number }).expired, 0);
}

async function left(): Promise<number> {
  const found = await deps.buckets.load(bucket);
  let count = 0;
  for (let after: string | undefined, more = true; more;) {
    const page = await deps.objects.scan(found, { prefix: '', limit: 1000, ...(after !== undefined && { after }) });
    count += page.entries.length;
    after = page.entries.at(-1)?.key;
    more = page.more;
  }
  return count;
}

it('a pass that is killed again and again goes on where it was, and skips nothing', async () => {
  await seedBucket(deps, bucket, objects);
  let before = await left();
  expect(before).toBe(objects);
  for (let round = 0; round < 2; round += 1) {
    const victim = run();
    const from = await noted();
    while ((await noted()) <= from && victim.process.exitCode === null) await sleep(2);
    victim.process.kill('SIGKILL');
    expect((await victim.ended).code).toBeNull();
    const now = await left();
    expect(now).toBeGreaterThan(0);
    expect(now).toBeLessThan(before);
    before = now;
  }
  const interrupted = (await deps.passes.latest())!;
  expect(interrupted.finishedAt).toBeUndefined();
  const last = await run().ended;
  expect(last.code, last.stderr).toBe(0);
  expect(await left()).toBe(0);
  const { passes } = JSON.parse(last.stdout) as { passes: Record<string, unknown>[] };
  expect(passes).toMatchObject([
    { interrupted: true, changed: 0 },
    { interrupted: false, keys: 0, expired: 0, changed: 0 },
  ]);
});
