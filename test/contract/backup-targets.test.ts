import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { DirectoryTarget } from '../../shared/adapters/targets/directory-target.ts';
import { S3Target } from '../../shared/adapters/targets/s3-target.ts';
import { draftsFolder, type BackupTarget } from '../../shared/ports/backup-target.ts';
import { MemoryTarget } from '../support/backup/memory-target.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { describeBackupTarget } from './backup-target.ts';

describeBackupTarget('MemoryTarget', async () => {
  const target = new MemoryTarget();
  target.now = Date.now();
  return { target, close: async () => undefined };
});

describeBackupTarget('DirectoryTarget', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'stillage-target-'));
  return { target: withoutDrafts(new DirectoryTarget(directory)), close: () => rm(directory, { recursive: true }) };
});

let service: Service;
let buckets = 0;
const former = { ...process.env };
beforeAll(async () => {
  service = await startService();
  process.env['AWS_ACCESS_KEY_ID'] = alice.accessKeyId;
  process.env['AWS_SECRET_ACCESS_KEY'] = alice.secretAccessKey;
});
afterAll(async () => {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) {
    if (former[name] === undefined) delete process.env[name];
    else process.env[name] = former[name];
  }
  await service.stop();
});

describeBackupTarget('S3Target', async () => {
  const client = new PooledClient(service);
  const bucket = `backups-${(buckets += 1)}`;
  await client.send({ method: 'PUT', path: `/${bucket}` });
  client.close();
  const place = { bucket, prefix: 'of/this/', endpoint: service.url, region: 'us-east-1' };
  return { target: new S3Target(`s3://${bucket}/of/this`, place), close: async () => undefined };
});

/** Files that are not whole yet are none. */
function withoutDrafts(target: BackupTarget): BackupTarget {
  return {
    name: target.name,
    put: (...args) => target.put(...args),
    get: (name) => target.get(name),
    remove: (names) => target.remove(names),
    list: async function* (prefix) {
      for await (const file of target.list(prefix)) if (!file.name.startsWith(draftsFolder)) yield file;
    },
  };
}
