import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { isInstalled, run, skip } from '../support/programs/programs.ts';
import { startService } from '../support/programs/server.ts';

const unit = join(import.meta.dirname, '../../docs/recipes/stillage.service');
const hasSystemd = isInstalled('systemd-analyze');

/** System calls that the C library, libuv and Node.js attempt but can do without. */
const dispensable = new Set([
  'sched_setaffinity',
  'setpriority',
  'setrlimit',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  'landlock_create_ruleset',
]);

describe('the unit for systemd', () => {
  it('is one, and leaves the service few rights', async (context) => {
    if (!hasSystemd) return skip(context, 'systemd-analyze is not installed: apt-get install systemd');
    const { stdout, stderr } = await run('systemd-analyze', ['verify', unit]);
    expect(stdout + stderr).toBe('');
    const { stdout: report } = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', unit]);
    // From 0, safe, to 10.
    expect(Number(/exposure level for stillage.service: ([\d.]+)/.exec(report)![1])).toBeLessThan(2);
  });

  it('permits the system calls that the service makes, with workers, under load and at its end', async (context) => {
    if (!hasSystemd || !isInstalled('strace', ['-V']))
      return skip(context, 'strace or systemd-analyze is not installed');
    const folder = await mkdtemp(join(tmpdir(), 'stillage-systemd-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const summary = join(folder, 'calls');
    const under = ['strace', '--follow-forks', '--summary-only', '--output', summary];
    const service = await startService({ under, args: ['--workers', '2'], alone: true });
    const client = new PooledClient(service);
    await client.send({ method: 'PUT', path: '/photos' });
    const bodies = ['small', 'x'.repeat(100_000), 'x'.repeat(3_000_000)];
    for (const [n, body] of bodies.entries()) {
      expect((await client.send({ method: 'PUT', path: `/photos/${n}`, body })).status).toBe(200);
      expect((await client.send({ path: `/photos/${n}` })).text).toBe(body);
    }
    expect((await client.send({ method: 'DELETE', path: '/photos/0' })).status).toBe(204);
    client.close();
    await service.stop();
    const lines = (await readFile(summary, 'utf8'))
      .split('\n')
      .filter((line) => /^ *\d/.test(line) && !line.endsWith('total'));
    const made = lines.map((line) => line.trim().split(/\s+/).at(-1)!);
    expect(made).toContain('pwrite64');
    const permitted = await permittedCalls();
    expect(made.filter((name) => !permitted.has(name) && !dispensable.has(name))).toEqual([]);
  });
});

/** The calls that the filter of the unit lets through. */
async function permittedCalls(): Promise<ReadonlySet<string>> {
  const text = await readFile(unit, 'utf8');
  const filters = [...text.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)];
  expect(filters).toHaveLength(2);
  const permitted = new Set<string>();
  for (const [, isRefused, groups] of filters) {
    for (const group of groups!.split(' ')) {
      for (const name of await callsOf(group)) {
        if (isRefused) permitted.delete(name);
        else permitted.add(name);
      }
    }
  }
  for (const name of await callsOf('@default')) permitted.add(name);
  return permitted;
}

async function callsOf(group: string): Promise<readonly string[]> {
  const { stdout } = await run('systemd-analyze', ['syscall-filter', '--no-pager', group]);
  const names = stdout
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^@?[a-z0-9_-]+$/.test(line) && line !== group);
  const inner = await Promise.all(names.filter((name) => name.startsWith('@')).map(callsOf));
  return [...names.filter((name) => !name.startsWith('@')), ...inner.flat()];
}
