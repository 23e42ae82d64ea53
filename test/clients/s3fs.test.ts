import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, type Stats } from 'node:fs';
import * as files from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { long, md5, MiB, randomFile } from '../support/storage/contents.ts';
import { sdkAt, startEndpoint, type Endpoint, someWays } from '../support/programs/endpoint.ts';
import { environment, isInstalled, skip } from '../support/programs/programs.ts';
import { alice } from '../support/programs/server.ts';

const installed = isInstalled('s3fs');

describe.each(someWays)('s3fs over $scheme, bucket in the $style', ({ scheme, style }) => {
  let endpoint: Endpoint;
  let bucket: string;
  let mount: Mount | string;
  let at: (path: string) => string;

  beforeAll(async () => {
    endpoint = await startEndpoint(scheme);
    bucket = await endpoint.newBucket();
    mount = await mounted(endpoint, bucket, style === 'path' ? ['use_path_request_style'] : []);
    at = (path) => join(endpoint.folder, 'mount', path);
  });
  afterAll(async () => {
    if (typeof mount === 'object') await mount.end();
    await endpoint.stop();
  });
  beforeEach((context) => {
    if (typeof mount === 'string') skip(context, mount);
  });

  it('writes, reads, appends and truncates files', async () => {
    await files.writeFile(at('a b+é.txt'), 'hello');
    expect(await files.readFile(at('a b+é.txt'), 'utf8')).toBe('hello');
    await files.appendFile(at('a b+é.txt'), ' world');
    expect(await files.readFile(at('a b+é.txt'), 'utf8')).toBe('hello world');
    await files.truncate(at('a b+é.txt'), 4);
    expect(await files.readFile(at('a b+é.txt'), 'utf8')).toBe('hell');
    await files.writeFile(at('empty'), '');
    expect((await files.stat(at('empty'))).size).toBe(0);
    await expect(files.stat(at('none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('keeps modes, times and links', async () => {
    await files.writeFile(at('script'), '#!/bin/sh');
    await files.chmod(at('script'), 0o750);
    await files.utimes(at('script'), 981_173_106, 981_173_106);
    const { mode, mtime }: Stats = await files.stat(at('script'));
    expect(mode & 0o777).toBe(0o750);
    expect(mtime.toISOString()).toBe('2001-02-03T04:05:06.000Z');
    const { Metadata } = await sdkAt(endpoint).send(new HeadObjectCommand({ Bucket: bucket, Key: 'script' }));
    expect(Metadata).toMatchObject({ mode: String(0o100750), mtime: expect.stringContaining('981173106') as string });
    await files.symlink('script', at('link'));
    expect(await files.readlink(at('link'))).toBe('script');
    expect(await files.readFile(at('link'), 'utf8')).toBe('#!/bin/sh');
  });

  it('makes, lists, renames and removes folders', async () => {
    await files.mkdir(at('one/two'), { recursive: true });
    await files.writeFile(at('one/two/file'), 'deep');
    await files.writeFile(at('one/file'), 'shallow');
    expect((await files.readdir(at('one'))).sort()).toEqual(['file', 'two']);
    await files.rename(at('one'), at('renamed'));
    expect(await files.readFile(at('renamed/two/file'), 'utf8')).toBe('deep');
    await expect(files.stat(at('one'))).rejects.toMatchObject({ code: 'ENOENT' });
    await files.rm(at('renamed'), { recursive: true });
    await expect(files.readdir(at('renamed'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('keeps a big file, changes a piece of it and renames it', async () => {
    const content = await randomFile(join(endpoint.folder, 'big'), (long ? 100 : 25) * MiB);
    await files.copyFile(join(endpoint.folder, 'big'), at('big'));
    const { ETag } = await sdkAt(endpoint).send(new HeadObjectCommand({ Bucket: bucket, Key: 'big' }));
    expect(ETag).toMatch(/-\d+"$/);

    const file = await files.open(at('big'), 'r+');
    await file.write('changed', 12 * MiB);
    await file.close();
    content.write('changed', 12 * MiB);
    expect(md5(await files.readFile(at('big')))).toBe(md5(content));
    await files.rename(at('big'), at('bigger'));
    expect(md5(await files.readFile(at('bigger')))).toBe(md5(content));
  });
});

interface Mount {
  end(): Promise<void>;
}

/** Mounts a bucket at `mount` in the endpoint's folder, or returns the reason why it cannot be mounted. */
async function mounted(endpoint: Endpoint, bucket: string, options: readonly string[]): Promise<Mount | string> {
  if (!installed) return 's3fs is not installed: apt-get install s3fs';
  if (!existsSync('/dev/fuse'))
    return 'this machine has no FUSE (/dev/fuse): load the module fuse, or give the container the device';
  const point = join(endpoint.folder, 'mount');
  const passwords = join(endpoint.folder, 'passwd-s3fs');
  await files.mkdir(point);
  await files.writeFile(passwords, `${alice.accessKeyId}:${alice.secretAccessKey}\n`, { mode: 0o600 });
  const url = options.includes('use_path_request_style') ? endpoint.url : endpoint.hostStyleUrl;
  const all = [`url=${url}`, `passwd_file=${passwords}`, ...options].flatMap((option) => ['-o', option]);
  const env = environment({ CURL_CA_BUNDLE: endpoint.authority.file });
  const program = spawn('s3fs', [bucket, point, '-f', ...all], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  process.once('exit', () => program.kill());
  let said = '';
  for (const output of [program.stdout, program.stderr])
    output.setEncoding('utf8').on('data', (text: string) => (said += text));
  const inMounts = async (): Promise<boolean> => (await files.readFile('/proc/mounts', 'utf8')).includes(` ${point} `);
  while (!(await inMounts())) {
    if (program.exitCode === null) await sleep(50);
    else if (/fuse: |fusermount/.test(said)) return `this machine does not let FUSE mount: ${said.trim()}`;
    else throw new Error(`s3fs ended with ${program.exitCode}: ${said}`);
  }
  return { end: () => end(program) };
}

/** It unmounts on SIGTERM. */
async function end(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null) return;
  const exited = once(program, 'exit');
  program.kill('SIGTERM');
  await exited;
}
