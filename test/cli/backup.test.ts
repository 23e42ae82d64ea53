import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textOf, textsOf } from '../support/clients/expect-error.ts';
import { fastFolder } from '../support/disks/fast-folder.ts';
import { PooledClient, type PooledResponse } from '../support/clients/pooled-client.ts';
import { maySmallDisk, noSmallDisk, unshare } from '../support/disks/small-disk.ts';
import { run, skip } from '../support/programs/programs.ts';
import { runProgram, type Run } from '../support/programs/program.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { eventually, untilFound } from '../support/runs/eventually.ts';
import { expectScrubClean } from '../support/storage/scrub-clean.ts';

const passphrase = 'correct horse battery staple';
const env = { STILLAGE_BACKUP_PASSPHRASE: passphrase };
const part = Buffer.alloc(5 * 1024 * 1024, 'part one ');

let folder: string;
let service: Service;
let client: PooledClient;
beforeAll(async () => {
  folder = await mkdtemp(join(await fastFolder(), 'stillage-backups-'));
  service = await startService({ data: join(folder, 'data') });
  client = new PooledClient(service);
  await fill();
  expectDone(await backup('create', join(folder, 'first')));
});
afterAll(async () => {
  client.close();
  await service.stop();
  await rm(folder, { recursive: true });
});

async function backup(verb: string, target: string, ...args: string[]): Promise<Run> {
  if (verb === 'create') await mkdir(target, { recursive: true });
  const data = verb === 'create' ? ['--data', service.data] : [];
  return runWarm(['backup', verb, target, ...data, ...args], env);
}

const restore = (target: string, data: string, ...args: string[]): Promise<Run> =>
  runWarm(['restore', target, '--data', data, ...args], env);

/** Expects that a command has succeeded, whatever it told of its progress. */
function expectDone({ code, stderr }: Run): void {
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
}

async function ok(
  method: string,
  path: string,
  query = '',
  body: string | Buffer = '',
  headers = {},
): Promise<PooledResponse> {
  const answer = await client.send({ method, path, query, body, headers });
  expect(answer.status, `${method} ${path}?${query}: ${answer.text}`).toBeLessThan(300);
  return answer;
}

async function fill(): Promise<void> {
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

  it('lists, verifies, and adds nothing where nothing changed', async () => {
    const target = join(folder, 'listed');
    const first = JSON.parse((await backup('create', target, '--json')).stdout) as Record<string, number>;
    const second = JSON.parse((await backup('create', target, '--json')).stdout) as Record<string, number>;
    expect(second['added']!).toBeLessThan(first['added']! / 50);
    const listed = JSON.parse((await backup('list', target, '--json')).stdout) as unknown[];
    expect(listed).toEqual([first, second]);
    expect((await backup('list', target)).stdout).toMatch(/^BACKUP +TIME +ITEMS .*\n.* whole\n.* whole\n$/);
    const { code, stdout } = await backup('verify', target);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^checked 2 backups in \d+ packs, .* read: sound\n$/)]);
    expect(JSON.parse((await backup('verify', target, '--quick', '--json')).stdout)).toMatchObject({ findings: [] });
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

  it('finds flipped bits, which restore refuses', async () => {
    const target = join(folder, 'flipped');
    expect((await backup('create', target)).code).toBe(0);
    const packs = (await readdir(join(target, 'packs'), { recursive: true })).filter((name) => name.length > 60);
    for (const pack of packs) {
      const path = join(target, 'packs', pack);
      const bytes = await readFile(path);
      bytes[bytes.length >> 1]! ^= 4;
      await writeFile(path, bytes);
    }
    const { code, stdout } = await backup('verify', target);
    expect(code).toBe(1);
    expect(
      stdout.match(/^damaged {2}pack [0-9a-f]{64}: its bytes are not those that were written; of 20/gm),
    ).toHaveLength(packs.length);
    const refused = await restore(target, join(folder, 'from-flipped'));
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^stillage: the pack \w+ of the backup .* cannot be used/m),
    ]);
    // No service takes it for a data directory.
    const start = await runProgram(['start', '--port', '0', '--data', join(folder, 'from-flipped')]);
    expect([start.code, start.stderr]).toEqual([1, expect.stringContaining('no master.key')]);
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

  it('two at once are both whole', async () => {
    const target = join(folder, 'both');
    await mkdir(target);
    const create = ['backup', 'create', target, '--data', service.data];
    const runs = await Promise.all([runProgram(create, { env }), runProgram(create, { env })]);
    runs.forEach(expectDone);
    expect(JSON.parse((await backup('verify', target, '--json')).stdout)).toMatchObject({ backups: 2, findings: [] });
    expect((await restore(target, join(folder, 'from-both'))).code).toBe(0);
  });

  it('prunes what nobody needs, and never beside a backup', async () => {
    const target = join(folder, 'pruned');
    await ok('PUT', '/brief');
    await ok('PUT', '/brief/large', '', part);
    expect((await backup('create', target)).code).toBe(0);
    await ok('DELETE', '/brief/large');
    await ok('DELETE', '/brief');
    expect((await backup('create', target)).code).toBe(0);
    const ids = (JSON.parse((await backup('list', target, '--json')).stdout) as { id: string }[]).map(({ id }) => id);
    const none = await backup('prune', target);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--keep-')]);
    const dry = await backup('prune', target, '--keep-last', '1', '--dry-run');
    expect(dry.stdout).toContain(`would remove  1 backup\n  ${ids[0]}`);

    const running = spawn(process.execPath, ['bin/stillage.cjs', 'backup', 'create', target, '--data', service.data], {
      cwd: join(import.meta.dirname, '../..'),
      env: { ...process.env, ...env },
      stdio: 'ignore',
    });
    const ended = once(running, 'exit');
    await untilFound(async () => (await readdir(join(target, 'locks'))).some((name) => name.startsWith('add-')));
    running.kill('SIGSTOP');
    const beside = await backup('prune', target, '--keep-last', '1');
    expect([beside.code, beside.stderr]).toEqual([1, expect.stringMatching(/^stillage: process \d+ on .* uses /)]);
    running.kill('SIGKILL');
    await ended;

    const { code, stdout } = await backup('prune', target, '--keep-daily', '7', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ kept: [ids[1]], removed: [ids[0]] })]);
    expect((await backup('verify', target)).code).toBe(0);
    expect((await restore(target, join(folder, 'from-pruned'))).code).toBe(0);
  });

  it('says in one line that the target is full, and is resumed when it has room', async (context) => {
    if (!maySmallDisk) return skip(context, noSmallDisk);
    const target = join(folder, 'small');
    await mkdir(target);
    const stillage = '"$node" bin/stillage.cjs backup';
    const script = [
      'node="$0" target="$1" data="$2"',
      'mount -t tmpfs -o size=6m disk "$target"',
      `${stillage} create "$target" --data "$data"; echo "ended with $?" >&2`,
      'mount -o remount,size=200m "$target"',
      `${stillage} create "$target" --data "$data" && ${stillage} verify "$target"`,
    ];
    const args = [...unshare.slice(1), 'bash', '-c', script.join('\n'), process.execPath, target, service.data];
    const { stdout, stderr } = await run(unshare[0]!, args, { env, cwd: join(import.meta.dirname, '../..') });
    expect(stderr).toContain(`stillage: cannot write to ${target}: it is full\nended with 1\n`);
    expect(stdout).toMatch(/\nchecked 1 backup in .*: sound\n$/);
  });

  it('is made on a schedule, and the log tells of it', async () => {
    const [data, target, file] = ['scheduled', 'of-scheduled', 'scheduled.key'].map((name) => join(folder, name));
    await mkdir(target!);
    await writeFile(file!, passphrase);
    const args = ['--backup-to', target!, '--backup-passphrase-file', file!, '--backup-every', '1h'];
    const scheduled = await startService({ data: data!, args });
    await eventually(() =>
      expect(scheduled.output.stdout).toMatch(/"message":"a backup was made","id":"20.*"unread":0/),
    );
    expect(await scheduled.stop()).toBe(0);
    expect(JSON.parse((await backup('list', target!, '--json')).stdout)).toHaveLength(1);
    await writeFile(file!, 'another');
    const failing = await startService({ data: data!, args });
    await eventually(() =>
      expect(failing.output.stdout).toMatch(/"level":"error".*"the backup failed".*the passphrase is not/),
    );
    expect(await failing.stop()).toBe(0);
  });

  it('reports what is damaged in the data directory, and has all the rest', async () => {
    const data = join(folder, 'damaged');
    const damaged = await startService({ data });
    const own = new PooledClient(damaged);
    await own.send({ method: 'PUT', path: '/bucket' });
    for (const key of ['one', 'two']) {
      await own.send({ method: 'PUT', path: `/bucket/${key}`, body: Buffer.alloc(100_000, key) });
    }
    const files = (await readdir(join(data, 'blobs'), { recursive: true })).filter(
      (name) => name.length > 30 && !name.startsWith('store'),
    );
    expect(files).toHaveLength(2);
    const path = join(data, 'blobs', files[0]!);
    const bytes = await readFile(path);
    bytes[50_000]! ^= 1;
    await writeFile(path, bytes);
    const target = join(folder, 'of-damaged');
    await mkdir(target);
    const { code, stdout, stderr } = await runWarm(['backup', 'create', target, '--data', data], env);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^unread {2}blob \w.* has other bytes between /m)]);
    expect(stdout).toContain('1 thing damaged or missing in the data directory');
    expect((await backup('list', target)).stdout).toContain('1 thing could not be read');
    const others = await runWarm(['backup', 'create', join(folder, 'first'), '--data', data], env);
    expect([others.code, others.stderr]).toEqual([
      1,
      expect.stringContaining('has the backups of another data directory'),
    ]);
    own.close();
    await damaged.stop();
    const restored = await restore(target, join(folder, 'from-damaged'));
    expect([restored.code, restored.stdout]).toEqual([
      1,
      expect.stringContaining('1 thing could not be read when it was made'),
    ]);
  });
});
