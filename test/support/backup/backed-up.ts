import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { textOf } from '../clients/expect-error.ts';
import { PooledClient, type PooledResponse } from '../clients/pooled-client.ts';
import { fastFolder } from '../disks/fast-folder.ts';
import type { Run } from '../programs/program.ts';
import { startService, type Service } from '../programs/server.ts';
import { runWarm } from '../programs/warm-program.ts';

export const passphrase = 'correct horse battery staple';
/** The environment of commands on the backups. */
export const env = { STILLAGE_BACKUP_PASSPHRASE: passphrase };
/** The content of the first part of the uploads. */
export const part = Buffer.alloc(5 * 1024 * 1024, 'part one ');

/** A service with something of all that a backup has, and a folder for targets and restored directories. */
export interface BackedUp {
  readonly folder: string;
  readonly service: Service;
  readonly client: PooledClient;
  /** Runs `stillage backup`; `create` of the service, into a target that is created if missing. */
  readonly backup: (verb: string, target: string, ...args: readonly string[]) => Promise<Run>;
  /** Sends a request, which must succeed. */
  readonly ok: (
    method: string,
    path: string,
    query?: string,
    body?: string | Buffer,
    headers?: object,
  ) => Promise<PooledResponse>;
  /** Stops the service, and removes the folder. */
  readonly stop: () => Promise<void>;
}

/** Starts a service and fills it. */
export async function startBackedUp(): Promise<BackedUp> {
  const folder = await mkdtemp(join(await fastFolder(), 'stillage-backups-'));
  const service = await startService({ data: join(folder, 'data') });
  const client = new PooledClient(service);
  const ok: BackedUp['ok'] = async (method, path, query = '', body = '', headers = {}) => {
    const answer = await client.send({ method, path, query, body, headers: { ...headers } });
    expect(answer.status, `${method} ${path}?${query}: ${answer.text}`).toBeLessThan(300);
    return answer;
  };
  await fill(service, ok);
  return {
    ...{ folder, service, client, ok },
    backup: async (verb, target, ...args) => {
      if (verb === 'create') await mkdir(target, { recursive: true });
      const data = verb === 'create' ? ['--data', service.data] : [];
      return runWarm(['backup', verb, target, ...data, ...args], env);
    },
    stop: async () => {
      client.close();
      await service.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Restores a backup into a directory. */
export function restore(target: string, data: string, ...args: readonly string[]): Promise<Run> {
  return runWarm(['restore', target, '--data', data, ...args], env);
}

/** Expects that a command has succeeded, whatever it told of its progress. */
export function expectDone({ code, stderr }: Run): void {
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
}

async function fill(service: Service, ok: BackedUp['ok']): Promise<void> {
  await ok('PUT', '/photos');
  const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
  await ok('PUT', '/photos', 'versioning', versioning);
  await ok('PUT', '/photos/cat.jpg', '', 'first', { 'x-amz-meta-colour': 'black', 'content-type': 'image/jpeg' });
  await ok('PUT', '/photos/cat.jpg', '', Buffer.alloc(300_000, 'second '), { 'x-amz-tagging': 'kind=cat' });
  await ok('PUT', '/photos/gone.jpg', '', 'gone');
  await ok('DELETE', '/photos/gone.jpg');
  await ok('PUT', '/photos/secret', '', 'encrypted', { 'x-amz-server-side-encryption': 'AES256' });
  await ok('PUT', '/photos/copy', '', '', { 'x-amz-copy-source': '/photos/cat.jpg' });
  const upload = `uploadId=${textOf((await ok('POST', '/photos/film', 'uploads')).text, 'UploadId')}`;
  const etags = [
    (await ok('PUT', '/photos/film', `partNumber=1&${upload}`, part)).headers.etag,
    (await ok('PUT', '/photos/film', `partNumber=2&${upload}`, 'part two')).headers.etag,
  ];
  const list = etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`).join('');
  await ok('POST', '/photos/film', upload, `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`);
  const open = textOf((await ok('POST', '/photos/open', 'uploads')).text, 'UploadId');
  await ok('PUT', '/photos/open', `partNumber=1&uploadId=${open}`, part);
  for (const args of [
    ['customer', 'create', 'acme'],
    ['project', 'create', 'shop@acme'],
    ['user', 'create', 'shop:ci@acme'],
    ['key', 'create', 'shop:ci@acme', '--id', 'STILCI'],
    ['quota', 'set', 'photos', '--bytes', '1GiB'],
  ]) {
    expect((await runWarm([...args, '--data', service.data])).code, args.join(' ')).toBe(0);
  }
}
