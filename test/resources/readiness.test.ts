import { watch } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startService } from '../support/programs/server.ts';
import { eventually } from '../support/runs/eventually.ts';

it('writes to the disks some ten times, then once a second, however often anybody asks for readiness', async () => {
  const service = await startService();
  onTestFinished(() => service.kill());
  const probes = new Set<string>();
  const watcher = watch(join(service.data, 'blobs'), (_, name) => {
    if (name?.startsWith('.probe-') === true) probes.add(name);
  });
  onTestFinished(() => {
    watcher.close();
  });
  const started = performance.now();
  for (let count = 0; count < 200; count += 1)
    expect((await fetch(`${service.url}/_stillage/health`)).status).toBe(200);
  const seconds = Math.ceil((performance.now() - started) / 1000);
  await eventually(() => expect(probes.size).toBeGreaterThan(0));
  expect(probes.size).toBeLessThanOrEqual(10 + seconds);
});
