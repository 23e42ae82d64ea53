import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  env,
  expectDone,
  part,
  passphrase,
  restore,
  startBackedUp,
  type BackedUp,
} from '../support/backup/backed-up.ts';
import { textOf, textsOf } from '../support/clients/expect-error.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { alice, startService } from '../support/programs/server.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { expectScrubClean } from '../support/storage/scrub-clean.ts';

let backedUp: BackedUp;
let folder: BackedUp['folder'];
let service: BackedUp['service'];
let client: BackedUp['client'];
let backup: BackedUp['backup'];
beforeAll(async () => {
  backedUp = await startBackedUp();
  ({ folder, service, client, backup } = backedUp);
  expectDone(await backup('create', join(folder, 'first')));
});
afterAll(() => backedUp.stop());

/** Everything that the service tells of what {@link fill} has made. */
async function told(from: PooledClient, data: string): Promise<unknown> {
  const versions = (await from.send({ path: '/photos', query: 'versions' })).text;
  const contents = [];
  for (const [at, key] of textsOf(versions, 'Key').entries()) {
    const versionId = textsOf(versions, 'VersionId')[at]!;
    const { status, headers, body } = await from.send({ path: `/photos/${key}`, query: `versionId=${versionId}` });
    const tags = (await from.send({ path: `/photos/${key}`, query: `tagging&versionId=${versionId}` })).text;
    const kept = ['etag', 'last-modified', 'content-type', 'x-amz-meta-colour', 'x-amz-server-side-encryption'];
    const shown = kept.map((name) => headers[name]);
    contents.push({
      key,
      versionId,
      status,
      shown,
      size: status === 200 && body.length,
      digest: status === 200 && createHash('sha256').update(body).digest('hex'),
      tags: textOf(tags, 'Value'),
    });
  }
  const uploads = (await from.send({ path: '/photos', query: 'uploads' })).text;
  const open = textOf(uploads, 'UploadId')!;
  const parts = (await from.send({ path: '/photos/open', query: `uploadId=${open}` })).text;
  const cli = async (...args: string[]): Promise<string> => (await runWarm([...args, '--data', data, '--json'])).stdout;
  return {
    versions,
    contents,
    open,
    parts,
    quota: await cli('quota', 'show', 'photos'),
    users: await cli('user', 'list', 'shop@acme'),
    secret: (await runWarm(['env', 'STILCI', '--data', data])).stdout,
  };
}

describe('stillage backup', () => {
  it('restores versions, tags, uploads, users and quotas as they were, with the passphrase alone', async () => {
    const data = join(folder, 'restored');
    const run = await restore(join(folder, 'first'), data);
    expectDone(run);
    expect(run.stdout).toMatch(
      /^restored {2}\d{4}-.*\nholds {5}[\d,]+ items and \d+ blobs\ninto {6}.*\nnext {6}stillage scrub --content/,
    );
    const before = await told(client, service.data);
    const copy = await startService({ data });
    const copyClient = new PooledClient(copy);
    expect(await told(copyClient, data)).toEqual(before);
    // What was uploaded in part can be completed.
    const open = (before as { open: string }).open;
    const parts = (before as { parts: string }).parts;
    const document = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${textOf(parts, 'ETag')}</ETag></Part></CompleteMultipartUpload>`;
    const completed = await copyClient.send({
      method: 'POST',
      path: '/photos/open',
      query: `uploadId=${open}`,
      body: document,
    });
    expect(completed.status).toBe(200);
    expect((await copyClient.send({ path: '/photos/open' })).body.equals(part)).toBe(true);
    copyClient.close();
    expect(await copy.stop()).toBe(0);
    await expectScrubClean(data);
    expect((await runWarm(['scrub', '--content', '--data', data])).code).toBe(0);
  });

  it('takes the passphrase from a file, and refuses another, or none', async () => {
    const target = join(folder, 'first');
    const file = join(folder, 'passphrase');
    await writeFile(file, `${passphrase}\n`);
    expect((await runWarm(['backup', 'list', target, '--passphrase-file', file])).code).toBe(0);
    await writeFile(file, 'another');
    for (const args of [
      ['backup', 'create', target, '--data', service.data],
      ['backup', 'list', target],
      ['backup', 'verify', target],
      ['backup', 'prune', target, '--keep-last', '1'],
      ['backup', 'passphrase', target, '--new-passphrase-file', file],
      ['restore', target, '--data', join(folder, 'never')],
    ]) {
      const { code, stderr } = await runWarm([...args, '--passphrase-file', file]);
      expect([code, stderr]).toEqual([1, `stillage: the passphrase is not that of the backups in ${target}\n`]);
      const none = await runWarm(args);
      expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--passphrase-file')]);
    }
    expect(await readdir(folder)).not.toContain('never');

    const other = join(folder, 'changed');
    expect((await backup('create', other)).code).toBe(0);
    expect((await backup('passphrase', other, '--new-passphrase-file', file)).code).toBe(0);
    expect((await backup('list', other)).code).toBe(1);
    expect((await runWarm(['backup', 'verify', other, '--passphrase-file', file])).code).toBe(0);
  });

  it('has neither the secrets nor the objects in it in clear', async () => {
    const key = await readFile(join(service.data, 'master.key'));
    const target = join(folder, 'first');
    for (const name of await readdir(target, { recursive: true })) {
      const bytes = await readFile(join(target, name)).catch(() => Buffer.alloc(0));
      for (const secret of [key, key.toString('base64'), 'part one part one', 'cat.jpg', alice.accessKeyId]) {
        expect(bytes.includes(secret), name).toBe(false);
      }
    }
  });

  it('refuses a directory that is not empty, and one in the other', async () => {
    const target = join(folder, 'first');
    const taken = join(folder, 'taken');
    await mkdir(taken);
    await writeFile(join(taken, 'file'), '');
    const { code, stderr } = await restore(target, taken);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^stillage: --data: .*taken is not empty/)]);
    expect(await readdir(taken)).toEqual(['file']);
    const nested = await backup('create', service.data);
    expect([nested.code, nested.stderr]).toEqual([2, expect.stringContaining('cannot be in the data directory')]);
    const others = await backup('create', taken);
    expect([others.code, others.stderr]).toEqual([
      1,
      expect.stringContaining('has other files (file), and no backups'),
    ]);
    const unmounted = await runWarm(['backup', 'create', join(folder, 'unmounted'), '--data', service.data], env);
    expect([unmounted.code, unmounted.stderr]).toEqual([
      1,
      expect.stringMatching(/^stillage: there is no directory .*unmounted: /),
    ]);
    const none = await restore(join(folder, 'nowhere'), join(folder, 'nothing'));
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('has no backups')]);
    for (const to of ['yesterday', '2026-13-01T00:00:00Z'])
      expect((await restore(target, taken, '--to', to)).code).toBe(2);
    const early = await restore(target, join(folder, 'early'), '--to', '2020-01-01T00:00:00Z');
    expect([early.code, early.stderr]).toEqual([
      1,
      expect.stringContaining('no backup of that time or before: the oldest is '),
    ]);
  });
});
