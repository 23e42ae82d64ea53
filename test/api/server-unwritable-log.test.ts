import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { exchange } from '../support/clients/raw-client.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { freePort } from '../support/runs/free-port.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';
import { workersOf } from '../support/programs/worker-processes.ts';
import { eventually } from '../support/runs/eventually.ts';

/** A log that cannot be written: https://man7.org/linux/man-pages/man4/full.4.html */

const send = (service: Service, request: Partial<Unsigned>) =>
  exchange(service.url, signed(new URL(service.url).host, { method: 'GET', path: '/', ...request }, { key: alice }));
const health = async ({ url }: Service): Promise<unknown> => (await fetch(`${url}/_stillage/health`)).json();

async function droppedBy(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^stillage_log_dropped_lines_total (\d+)$/m.exec(text)?.[1]);
}

describe.each([1, 2])('with %i workers, a log', (workers) => {
  const begin = async (under?: readonly string[]): Promise<{ service: Service; metrics: number }> => {
    const metrics = await freePort();
    const args = ['--workers', String(workers), '--metrics-port', String(metrics)];
    return { service: await startService({ args, ...(under && { under }) }), metrics };
  };

  it('that the disk has no room for drops lines, which readiness and metrics say, and nothing else', async () => {
    const { service, metrics } = await begin(['sh', '-c', '"$@" > /dev/full; exit $?', 'sh']);
    try {
      const bucket = bucketName();
      expect((await send(service, { method: 'PUT', path: `/${bucket}` })).status).toBe(200);
      for (let n = 0; n < 50; n += 1) {
        expect((await send(service, { method: 'PUT', path: `/${bucket}/${n}`, body: 'x' })).status).toBe(200);
        if (n % 10 === 0) await delay(20);
      }
      await expect.poll(() => health(service)).toEqual({ status: 'ok', log: false });
      await expect.poll(() => droppedBy(metrics)).toBeGreaterThanOrEqual(51);
    } finally {
      expect(await service.stop()).toBe(0);
    }
  });

  it('that nobody reads takes no memory, and goes on when somebody does', async () => {
    const { service, metrics } = await begin();
    const out = service.process.stdout!;
    try {
      out.pause();
      // 300 bytes a line: beyond the pipe and what may wait.
      const agent = 'x'.repeat(4000);
      for (let round = 0; round < 20; round += 1) {
        const requests = Array.from({ length: 50 }, () => send(service, { path: `/${agent}` }));
        await Promise.all(requests);
      }
      const dropped = await droppedBy(metrics);
      expect(dropped).toBeGreaterThan(0);
      expect(await health(service)).toEqual({ status: 'ok', log: false });
      out.resume();
      await expect
        .poll(async () => {
          await send(service, {});
          return service.output.stdout;
        })
        .toContain('lines of the log were dropped');
      await expect.poll(() => health(service)).toEqual({ status: 'ok' });
      for (const line of service.output.stdout.trim().split('\n')) JSON.parse(line);
    } finally {
      out.resume();
      expect(await service.stop()).toBe(0);
    }
  });

  it('that nobody reads does not keep a process that is to end', async () => {
    const { service } = await begin();
    const exited = once(service.process, 'exit');
    service.process.stdout!.pause();
    for (let round = 0; JSON.stringify(await health(service)) === '{"status":"ok"}'; round += 1) {
      expect(round).toBeLessThan(100);
      await Promise.all(Array.from({ length: 50 }, () => send(service, { path: `/${'x'.repeat(4000)}` })));
    }
    service.process.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    service.process.stdout!.resume();
    await service.stop();
  });

  it('whose reader has gone counts its lines as dropped', async () => {
    const { service, metrics } = await begin();
    try {
      service.process.stdout!.destroy();
      for (let n = 1; n <= 50; n += 1) expect((await send(service, { path: `/none-${n}` })).status).toBe(404);
      await expect.poll(() => droppedBy(metrics)).toBeGreaterThanOrEqual(50);
    } finally {
      expect(await service.stop()).toBe(0);
    }
  });
});

it('a pipe that nobody reads does not block the service while a worker starts', async () => {
  const service = await startService({ args: ['--workers', '2'] });
  const out = service.process.stdout!;
  try {
    out.pause();
    const [first] = await workersOf(service);
    process.kill(first!, 'SIGKILL');
    // The one in its place is stopped before it has done anything.
    const started = await eventually(async () => {
      const found = (await workersOf(service)).find((pid) => pid !== first);
      expect(await readFile(`/proc/${found}/environ`, 'latin1')).toContain('NODE_UNIQUE_ID');
      process.kill(found!, 'SIGSTOP');
      return found!;
    });
    try {
      for (let n = 0; n < 500; n += 1)
        expect((await fetch(`${service.url}/none/${'k'.repeat(1000)}`)).status).toBe(404);
    } finally {
      process.kill(started, 'SIGCONT');
    }
  } finally {
    out.resume();
    expect(await service.stop()).toBe(0);
  }
});
