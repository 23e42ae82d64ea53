import { expect, it } from 'vitest';
import { NoBlobs } from '../../../../functions/cloud/blobs.ts';

it('a process that was composed without blobs says so, should it ever touch one', async () => {
  const blobs = new NoBlobs();
  const calls = [() => blobs.write(), () => blobs.read(), () => blobs.remove(), () => blobs.describe()];
  for (const call of [...calls, () => blobs.check(), () => blobs.list().next()]) {
    await expect(call()).rejects.toThrow('composed without blobs');
  }
  blobs.close();
});
