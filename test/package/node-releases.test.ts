import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeOfRelease } from '../support/programs/node-releases.ts';
import { packedProject } from '../support/programs/packed-project.ts';
import { run, skip } from '../support/programs/programs.ts';

/*
 * The packed package on other releases of Node.js than that of the tests: installed by npm under each, imported and required, by its test kits, and
 * as a program.
 */

const root = join(import.meta.dirname, '../..');
const downloaded: string[] = [];
afterAll(() => Promise.all(downloaded.map((folder) => rm(folder, { recursive: true }))));

/** Returns a function that finds a release once. */
function release(major: number): () => Promise<string> {
  let found: Promise<string> | undefined;
  return () =>
    (found ??= nodeOfRelease(major).then((program) => {
      const folder = new RegExp(`^${join(tmpdir(), 'node-release-')}[^/]+`).exec(program)?.[0];
      if (folder) downloaded.push(folder);
      return program;
    }));
}

const session = `
  const assert = require('node:assert/strict');
  const stillage = await startStillage({ port: 0, ephemeral: true, buckets: ['photos'] });
  const client = new S3Client(stillage.clientConfig);
  const object = { Bucket: 'photos', Key: 'a' };
  for (const size of [5, 3 * 1024 * 1024]) {
    await client.send(new PutObjectCommand({ ...object, Body: Buffer.alloc(size, 'x') }));
    const { Body } = await client.send(new GetObjectCommand(object));
    assert.equal((await Body.transformToByteArray()).length, size);
  }
  stillage.fault({ kind: 'internal-error' });
  await client.send(new GetObjectCommand(object)).then(({ Body }) => Body.transformToString());
  await stillage.reset();
  await assert.rejects(client.send(new GetObjectCommand(object)), { name: 'NoSuchKey' });
  const credentials = { accessKeyId: 'TESTER', secretAccessKey: 'secret of the tester' };
  for (const status of [200, 200]) {
    const kept = await startStillage({ port: 0, data: './kept', credentials, buckets: ['photos'] });
    assert.equal((await fetch(kept.endpoint + '/_stillage/health')).status, status);
    await kept.stop();
  }
  client.destroy();
  await stillage.stop();
  console.log(process.version.split('.')[0]);
`;

describe.each([22, 24, 26])('on Node.js %i, the package', (major) => {
  const node = release(major);
  const project = packedProject({ linked: ['@aws-sdk/client-s3'], node });

  it('is imported by ES modules', async () => {
    const text = `
      import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
      import { createRequire } from 'node:module';
      import { startStillage } from 'stillage';
      const require = createRequire(import.meta.url);
      ${session}`;
    expect(await project.script('session.mjs', text)).toBe(`v${major}\n`);
  });

  it('is required by CommonJS', async () => {
    const text = `
      const { GetObjectCommand, PutObjectCommand, S3Client } = require('@aws-sdk/client-s3');
      const { startStillage } = require('stillage');
      (async () => {${session}})();`;
    expect(await project.script('session.cjs', text)).toBe(`v${major}\n`);
  });

  it('has a kit for tests, which ends with them', async () => {
    const text = `
      import assert from 'node:assert/strict';
      import { after as afterAll, before as beforeAll, beforeEach, test } from 'node:test';
      import { ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
      import { stillageFor } from 'stillage/vitest';
      const stillage = stillageFor({ beforeAll, beforeEach, afterAll }, { buckets: ['photos'] });
      for (const Key of ['one', 'two'])
        test(Key, async () => {
          const client = new S3Client(stillage.clientConfig);
          assert.equal((await client.send(new ListObjectsV2Command({ Bucket: 'photos' }))).KeyCount, 0);
          await client.send(new PutObjectCommand({ Bucket: 'photos', Key, Body: 'x' }));
        });`;
    expect(await project.script('kit.mjs', text)).toMatch(/pass 2\n[^]*fail 0/);
  });

  it('is a program', async () => {
    const program = join(project.folder, 'node_modules/stillage/bin/stillage.cjs');
    const text = `
      import { spawn } from 'node:child_process';
      import { existsSync, readFileSync } from 'node:fs';
      import { setTimeout } from 'node:timers/promises';
      const args = [${JSON.stringify(program)}, '--ephemeral', '--port', '0', '--ready-file', 'ready'];
      const child = spawn(process.execPath, args, { stdio: 'ignore' });
      const ended = new Promise((resolve) => child.once('exit', (...how) => resolve(how)));
      while (!existsSync('ready') || !readFileSync('ready', 'utf8').trim()) await setTimeout(20);
      console.log(await (await fetch(readFileSync('ready', 'utf8').trim() + '/_stillage/health')).json());
      child.kill('SIGTERM');
      console.log(JSON.stringify(await ended));`;
    expect(await project.script('program.mjs', text)).toBe("{ status: 'ok', ephemeral: true }\n[0,null]\n");
  });
});

describe('on Node.js 18, which is too old,', () => {
  const node = release(18);
  const project = packedProject({ node });
  const line = /Node\.js 18\.[\d.]+ is too old, 20\.19 or newer is needed: https:\/\/nodejs\.org\n/;
  let program: string;
  beforeAll(async () => {
    program = await node();
  });

  it.for(['', '--help', 'start --ephemeral'])(
    'the program says in a line which it needs: stillage %s',
    async (words, context) => {
      if (!program.startsWith('/')) return skip(context, program);
      const { stdout, stderr } = await run(program, [join(root, 'bin/stillage.cjs'), ...words.split(' ')], {
        codes: [1],
      });
      expect(stdout).toBe('');
      expect(stderr).toMatch(new RegExp(`^stillage: ${line.source}$`));
    },
  );

  it.each([
    [
      'import',
      ['--input-type=module', '--eval', "import { startStillage } from 'stillage'; console.log(startStillage);"],
    ],
    ['require', ['--eval', "console.log(require('stillage/vitest'));"]],
  ])('a program is told so that wants to %s it', async (_, args) => {
    const { stdout, stderr } = await run(program, args, { cwd: project.folder, codes: [1] });
    expect(stdout).toBe('');
    expect(stderr).toMatch(new RegExp(`^Error: ${line.source}`, 'm'));
  });
});
