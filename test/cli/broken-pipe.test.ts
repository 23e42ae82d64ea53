import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Starts `stillage` with a standard output that is no longer read. */
function startUnread(args: readonly string[]): { child: ChildProcess; stderr: () => string } {
  const child = spawn(process.execPath, ['bin/stillage.cjs', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (more: string) => (text += more));
  return { child, stderr: () => text };
}

describe('when nobody reads the output any more', () => {
  it('a command ends without a word', async () => {
    const { child, stderr } = startUnread(['start', '--help']);
    const [code] = (await once(child, 'close')) as [number];
    expect([code, stderr()]).toEqual([0, '']);
  });

  it('the service goes on', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stillage-test-'));
    const readyFile = join(folder, 'ready');
    const { child, stderr } = startUnread([
      ...['start', '--ephemeral', '--port', '0', '--console-port', '0', '--ready-file', readyFile],
    ]);
    const ended = once(child, 'close');
    onTestFinished(async () => {
      child.kill();
      await ended;
      await rm(folder, { recursive: true });
    });
    while (!existsSync(readyFile) && child.exitCode === null) await sleep(20);
    const endpoint = readFileSync(readyFile, 'utf8').trim();
    // The line of each request is written before the next one is sent.
    for (let request = 0; request < 3; request += 1) {
      expect((await fetch(`${endpoint}/_stillage/health`)).status).toBe(200);
      await sleep(50);
    }
    expect(stderr()).not.toMatch(/EPIPE/);
  });
});
