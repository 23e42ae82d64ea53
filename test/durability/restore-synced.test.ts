import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PooledClient } from '../support/clients/pooled-client.ts';
import {
  fileOf,
  isSync,
  traceSyncs,
  unsyncedBefore,
  whyNoTracing,
  type SyncExpectation,
  type SystemCall,
} from '../support/disks/system-calls.ts';
import { runProgram } from '../support/programs/program.ts';
import { startService } from '../support/programs/server.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-restored-'));
});
afterEach(() => rm(folder, { recursive: true }));

const blobFile = /\/blobs\/[0-9a-f]{2}\/[^/]{30,}$/;
const tableFile = /\/table\/data\.mdb$/;
const keyFile = /\/master\.key$/;
/** Kinds of what a restore syncs, each of which it needs. */
const kinds = ['blob', 'directory of blobs', 'table', 'key', 'data directory', 'directories above'] as const;

/** Backs up a service with objects of all sizes. */
async function backUp(target: string, passphrase: string): Promise<void> {
  const service = await startService({ data: join(folder, 'data') });
  const client = new PooledClient(service);
  const put = async (path: string, body = Buffer.alloc(0)): Promise<void> => {
    expect((await client.send({ method: 'PUT', path, body })).status).toBe(200);
  };
  await put('/bucket');
  for (const [at, size] of [0, 100, 300_000, 9_000_000].entries())
    await put(`/bucket/${at}`, Buffer.alloc(size, `${at}`));
  client.close();
  expect(await service.stop()).toBe(0);
  await mkdir(target);
  await writeFile(passphrase, 'correct horse battery staple');
  const args = ['backup', 'create', target, '--data', service.data, '--passphrase-file', passphrase];
  expect((await runProgram(args)).code).toBe(0);
}

function kindOf(call: SystemCall, data: string): (typeof kinds)[number] | undefined {
  const path = fileOf(call)?.path ?? '';
  if (tableFile.test(path)) return 'table';
  if (blobFile.test(path)) return 'blob';
  if (keyFile.test(path)) return 'key';
  if (/\/blobs\/[0-9a-f]{2}$/.test(path)) return 'directory of blobs';
  if (path === data) return 'data directory';
  return data.startsWith(`${path}/`) ? 'directories above' : undefined;
}

it('a restore has synced all that it wrote before it says so, and everything else before the key, without which no service starts', async (context) => {
  const reason = await whyNoTracing();
  if (reason !== undefined) context.skip(reason);

  const [target, passphrase, data] = [
    join(folder, 'backups'),
    join(folder, 'passphrase'),
    join(folder, 'new', 'restored'),
  ];
  await backUp(target, passphrase);
  const restore = ['restore', target, '--data', data, '--passphrase-file', passphrase];
  const calls = await traceSyncs([process.execPath, 'bin/stillage.cjs', ...restore]);

  const isTold = ({ name, args }: SystemCall): boolean => name.startsWith('write') && /^1<.*"restored /.test(args);
  const isKeyMade = ({ args, resultPath }: SystemCall): boolean =>
    args.includes('O_CREAT') && keyFile.test(resultPath ?? '');
  const within = { within: folder, except: /\/lock\.mdb$/ };
  const told: SyncExpectation = { ...within, written: [blobFile, tableFile, keyFile], acknowledgement: isTold };
  const key: SyncExpectation = { ...within, written: [blobFile, tableFile], acknowledgement: isKeyMade };
  expect(unsyncedBefore(calls, told)).toEqual([]);
  expect(unsyncedBefore(calls, key)).toEqual([]);
  const made = calls.filter(isSync).map((call) => fileOf(call)?.path);
  for (const parent of [dirname(data), folder]) expect(made).toContain(parent);

  // That the check can fail: it does as soon as any one kind of syncs is not there.
  for (const kind of kinds) {
    const without = calls.filter((call) => !(isSync(call) && kindOf(call, data) === kind));
    expect(unsyncedBefore(without, told), kind).not.toEqual([]);
    if (kind !== 'key') expect(unsyncedBefore(without, key), kind).not.toEqual([]);
  }
});
