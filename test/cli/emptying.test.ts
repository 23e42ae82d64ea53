import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  HeadBucketCommand,
  PutBucketVersioningCommand,
  UploadPartCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { administer, makeKey, runAt } from '../support/storage/administration.ts';
import { bucketName, sdk } from '../support/clients/clients.ts';
import { versionsOf } from '../support/storage/objects.ts';
import { alice } from '../support/programs/server.ts';
import { atEachPlace } from './places.ts';

// Each command is a process of its own.
atEachPlace({ isRunning: true }, (at) => {
  const run = <Answer>(...args: string[]): Promise<Answer> => administer<Answer>(at().place, ...args);

  function clientOf(key: { readonly accessKeyId: string; readonly secretAccessKey: string } = alice): S3Client {
    const client = sdk({ url: at().url }, key, { maxAttempts: 1 });
    onTestFinished(() => client.destroy());
    return client;
  }

  /** Makes a bucket with three objects, one of them in two versions and one under a delete marker, and an open upload. */
  async function filled(client: S3Client): Promise<string> {
    const Bucket = bucketName('full');
    await client.send(new CreateBucketCommand({ Bucket }));
    await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
    for (const Key of ['a', 'b', 'c', 'a']) await client.send(new PutObjectCommand({ Bucket, Key, Body: 'content' }));
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'c' }));
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'parts' }));
    await client.send(new UploadPartCommand({ Bucket, Key: 'parts', UploadId, PartNumber: 1, Body: 'part' }));
    return Bucket;
  }
  const contents = { objects: 2, versions: 5, uploads: 1 };

  describe('bucket empty', () => {
    it('removes every version and upload, tells how many, and keeps the bucket', async () => {
      const client = clientOf();
      const bucket = await filled(client);
      const { found, removed } = await run<{ found: object; removed: object }>('bucket', 'empty', bucket, '--yes');
      expect(found).toMatchObject(contents);
      expect(removed).toEqual({ versions: 5, uploads: 1 });
      expect(await versionsOf(client, bucket)).toEqual([]);
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'new', Body: 'content' }));
      expect(await versionsOf(client, bucket)).toHaveLength(1);
      // What an interrupted run has left is what the next one finds.
      expect(await run('bucket', 'empty', bucket, '--yes')).toMatchObject({ removed: { versions: 1, uploads: 0 } });
    });

    it.each([
      ['bucket', 'empty'],
      ['bucket', 'remove', '--contents'],
      ['project', 'remove', '--contents'],
    ])('and %s %s do nothing where nobody can be asked', async (family, verb, ...options) => {
      const client = clientOf();
      const bucket = await filled(client);
      const name = family === 'bucket' ? bucket : 'main@example.test';
      const { code, stdout, stderr } = await runAt(at().place, [family, verb, name, ...options]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toBe('stillage: --yes is needed where nobody can be asked: standard input is no terminal\n');
      expect(await versionsOf(client, bucket)).toHaveLength(5);
    });

    it('asks for the name on a terminal', async (context) => {
      const client = clientOf();
      const bucket = await filled(client);
      const wrong = await onTerminal(['bucket', 'empty', bucket, ...at().place.args], at().place.env, 'another');
      if (wrong === undefined) return context.skip('there is no program "script" here');
      expect(wrong.output).toContain('2 objects (5 versions, 1 open upload, ');
      expect(wrong.output).toContain('nothing was removed: another name was typed');
      expect(wrong.code).toBe(1);
      expect(await versionsOf(client, bucket)).toHaveLength(5);
      const right = await onTerminal(['bucket', 'empty', bucket, ...at().place.args], at().place.env, bucket);
      expect(right?.code, right?.output).toBe(0);
      expect(await versionsOf(client, bucket)).toEqual([]);
    });

    it('is refused for a bucket that is not there', async () => {
      const { code, stderr } = await runAt(at().place, ['bucket', 'empty', 'no-such-bucket', '--yes']);
      expect([code, stderr]).toEqual([1, 'stillage: NoSuchBucket: The specified bucket does not exist\n']);
    });
  });

  it('bucket remove takes an empty bucket, and with --contents any', async () => {
    const client = clientOf();
    const bucket = await filled(client);
    const { code, stderr } = await runAt(at().place, ['bucket', 'remove', bucket]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^stillage: BucketNotEmpty: [^\n]*\n$/)]);
    expect(await run('bucket', 'remove', bucket, '--contents', '--yes')).toMatchObject({ bucket, found: contents });
    await expect(client.send(new HeadBucketCommand({ Bucket: bucket }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 404 },
    });
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    await run('bucket', 'remove', bucket);
    await expect(client.send(new HeadBucketCommand({ Bucket: bucket }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 404 },
    });
  });

  it('what is locked stays, and its bucket with it', async () => {
    const client = clientOf();
    const Bucket = bucketName('locked');
    await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    const lock = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: new Date(Date.now() + 3_600_000) } as const;
    await client.send(new PutObjectCommand({ Bucket, Key: 'locked', Body: 'content', ...lock }));
    for (const Key of ['locked', 'free']) await client.send(new PutObjectCommand({ Bucket, Key, Body: 'content' }));
    const left = { removed: { versions: 2, uploads: 0 }, locked: 1 };
    expect(await run('bucket', 'empty', Bucket, '--yes')).toMatchObject(left);
    const { code, stderr } = await runAt(at().place, ['bucket', 'remove', Bucket, '--contents', '--yes']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`${Bucket} stays: 1 key has versions under a retention period or a legal hold`),
    ]);
    expect((await versionsOf(client, Bucket)).map(({ key }) => key)).toEqual(['locked']);
  });

  it('project remove --contents removes its buckets, users and keys', async () => {
    const key = await makeKey(at().place, 'doomed:ci@acme');
    const client = clientOf(key);
    const buckets = [await filled(client), await filled(client)].sort();
    const removed = await run<{ buckets: unknown }>('project', 'remove', 'doomed@acme', '--contents', '--yes');
    expect(removed).toMatchObject({ project: 'doomed@acme', users: ['doomed:ci@acme'], keys: 1 });
    expect(removed.buckets).toEqual(
      buckets.map((bucket) => expect.objectContaining({ bucket, ...contents }) as unknown),
    );
    expect((await runAt(at().place, ['project', 'show', 'doomed@acme'])).stderr).toContain('there is no project');
    expect((await runAt(at().place, ['key', 'show', key.accessKeyId])).stderr).toContain('there is no key');
    const others = clientOf();
    for (const Bucket of buckets)
      await expect(others.send(new HeadBucketCommand({ Bucket }))).rejects.toMatchObject({
        $metadata: { httpStatusCode: 404 },
      });
  });
});

/** Runs the program on a terminal and types an answer once it is asked. Undefined if there is no `script` to make the terminal. */
async function onTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  answer: string,
): Promise<{ code: number | null; output: string } | undefined> {
  const command = [process.execPath, 'bin/stillage.cjs', ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: join(import.meta.dirname, '../..'),
    env: { ...process.env, ...env },
  });
  let output = '';
  let isAnswered = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (isAnswered || !output.includes('for ever: ')) return;
    isAnswered = true;
    child.stdin.write(`${answer}\n`);
  });
  return new Promise((resolve) => {
    child.once('error', () => resolve(undefined));
    child.once('close', (code) => resolve({ code, output }));
  });
}
