import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../support/programs/programs.ts';
import { untilFound } from '../support/runs/eventually.ts';
import type { Comparison } from './compare.ts';
import type { Result } from './requests/measure-cases.ts';

const root = join(import.meta.dirname, '../..');

/** Runs a benchmark with few requests, and returns its output. */
async function bench(...args: readonly string[]): Promise<string> {
  const few = ['--requests', '3', '--rounds', '2', '--keys', '30'];
  const { stdout } = await run('node', ['--import', 'tsx', 'test/bench/bench.ts', ...args, ...few], { cwd: root });
  return stdout;
}

describe('npm run bench', () => {
  it('measures requests to the service, beside a bare server where that knows them', async () => {
    const cases = [
      'PUT 4 KiB c1',
      'GET 4 KiB c1',
      'HEAD c32',
      'DELETE c32',
      'LIST versions c1',
      'GET 4 KiB c32, HTTPS',
    ];
    const all = JSON.parse(await bench('requests', '--json', '--only', `^(${cases.join('|')})$`)) as Result[];
    expect(all.map((one) => `${one.server}: ${one.case}`)).toEqual(
      cases.flatMap((name, at) => [`Stillage: ${name}`, ...(at < 4 ? [`bare node:http: ${name}`] : [])]),
    );
    for (const { requests, errors, firstError } of all) expect([requests, errors, firstError]).toEqual([6, 0, null]);
  });

  it('compares two checkouts, and the base with itself', async () => {
    const only = '^(GET 4 KiB c1|PUT trailer 4 KiB c32|PUT versioned 4 KiB c32|mixed 4 KiB c32)$';
    const all = JSON.parse(await bench('compare', root, '--json', '--only', only)) as Comparison[];
    expect(all).toHaveLength(4);
    for (const { bases, here } of all) {
      expect(bases.map(({ server, requests, errors }) => [server, requests, errors])).toEqual([
        [root, 6, 0],
        [`${root}, again`, 6, 0],
      ]);
      expect([here.server, here.requests, here.errors]).toEqual(['here', 6, 0]);
    }
  });

  it('measures a small GET beside everything that others do meanwhile', { timeout: 900_000 }, async () => {
    const all = JSON.parse(await bench('fairness', '--json')) as Result[];
    const meanwhile = (beside: string | null): string | undefined =>
      beside
        ?.split(', ')
        .map((one) => one.replace(/^\d+ /, ''))
        .join(', ');
    expect(all.map(({ beside }) => meanwhile(beside))).toEqual([
      undefined,
      'lists',
      'lists by delimiter',
      'lists of versions',
      'uploads',
      'DeleteObjects of 1,000',
      'lists, uploads, DeleteObjects of 1,000',
    ]);
    for (const { requests, errors, firstError } of all) expect([requests, errors, firstError]).toEqual([6, 0, null]);
  });

  describe('of backups', () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'stillage-bench-test-'));
    });
    afterEach(() => rm(folder, { recursive: true }));
    const number = expect.any(Number) as number;
    // The loader of TypeScript keeps a cache there as well.
    const left = async () => (await readdir(folder)).filter((name) => name.startsWith('stillage-'));
    const args = ['--import', 'tsx', 'test/bench/bench.ts', 'backup', '--json', '--seconds', '0.5'];
    const few = ['--objects', '20', '--bytes', '2000000'];

    it('measures each step, beside restic if that is there, and PUT meanwhile', async () => {
      const { stdout, stderr } = await run('node', [...args, ...few], { cwd: root, env: { TMPDIR: folder } });
      const { steps, put, ...given } = JSON.parse(stdout) as Record<string, unknown>;
      expect(given).toEqual({ objects: 20, bytes: 2_000_000 });
      const taken = { seconds: number, processor: number, written: number };
      const restic = stderr.includes('restic is not on PATH') ? null : taken;
      expect(steps).toEqual(
        ['first backup', 'incremental backup', 'restore to the first answer'].map((step) => {
          return { step, stillage: taken, restic };
        }),
      );
      const [first, next] = steps as { stillage: { written: number } }[];
      expect(first!.stillage.written).toBeGreaterThan(1_990_000);
      expect(next!.stillage.written).toBeLessThan(first!.stillage.written / 2);
      const times = { requests: number, p50: number, p99: number };
      expect(put).toMatchObject({ alone: times, during: times, slower: number });
      expect(await left()).toEqual([]);
    });

    it('leaves nothing behind when they are interrupted', async () => {
      const many = ['--objects', '1000000', '--bytes', '10000000000'];
      const child = spawn('node', [...args, ...many], {
        cwd: root,
        env: { ...process.env, TMPDIR: folder },
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      await untilFound(async () => {
        const names = await readdir(folder, { recursive: true });
        return names.some((name) => name.endsWith('data.mdb'));
      });
      child.kill('SIGTERM');
      expect(await ended).toEqual([130, null]);
      expect(await left()).toEqual([]);
    });
  });

  it('measures events from their commit to a webhook, and what they cost the writer', async () => {
    const args = ['--import', 'tsx', 'test/bench/bench.ts', 'events', '--json', '--rounds', '2', '--seconds', '0.2'];
    const { stdout } = await run('node', [...args, '--rate', '50'], { cwd: root });
    const { arrival, put } = JSON.parse(stdout) as {
      arrival: { events: number };
      put: Record<'silent' | 'told', { requests: number }>;
    };
    expect(put.silent.requests).toBeGreaterThan(0);
    expect(arrival.events).toBe(put.told.requests);
  });

  it('says of what it does not know what it would be', async () => {
    await expect(bench('compare', 'no-such-commit')).rejects.toThrow('invalid reference: no-such-commit');
    await expect(bench('requests', '--seconds', '0')).rejects.toThrow('It must be a number above 0.');
  });
});
