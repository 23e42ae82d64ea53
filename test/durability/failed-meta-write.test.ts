import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, DeleteObjectCommand, GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sdk } from '../support/clients/clients.ts';
import { put, read } from '../support/storage/objects.ts';
import { runProgram } from '../support/programs/program.ts';
import { expectScrubClean } from '../support/storage/scrub-clean.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { patience } from '../support/runs/patience.ts';

let folder: string;
let library: string;
let whyNot: string | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-meta-write-'));
  library = join(folder, 'failing-meta-write.so');
  if (process.platform !== 'linux') whyNot = 'LD_PRELOAD is of Linux';
  const source = join(import.meta.dirname, '../support/disks/failing-meta-write.c');
  await promisify(execFile)('gcc', ['-shared', '-fPIC', '-o', library, source, '-ldl']).catch(() => {
    whyNot ??= 'no C compiler is installed; to run this: apt-get install gcc libc6-dev';
  });
});
beforeEach((context) => {
  if (whyNot !== undefined) context.skip(whyNot);
});
afterAll(() => rm(folder, { recursive: true }));

const ended = /^stillage: a write to the table in \S+ failed on the disk; exiting: start the service again$/m;

/** Starts a service whose next write to the first pages of its table can be made to fail once. */
async function fragile(data: string): Promise<{ service: Service; client: S3Client; failNext: () => Promise<void> }> {
  const trigger = `${data}.trigger`;
  const service = await startService({ data, env: { LD_PRELOAD: library, FAIL_META_WRITE: trigger } });
  const client = sdk({ url: service.url }, alice, { maxAttempts: 1 });
  return { service, client, failNext: () => writeFile(trigger, '') };
}

describe('a write of the page that says where everything is', () => {
  it('fails once: the service ends with one line, and the next one has all that was answered', async () => {
    const data = join(folder, 'service');
    const { service, client, failNext } = await fragile(data);
    const exited = once(service.process, 'close');
    await client.send(new CreateBucketCommand({ Bucket: 'bucket' }));
    const acknowledged = new Map<string, string>();
    for (let at = 0; at < 20; at += 1) {
      await put(client, 'bucket', `key-${at}`, `value ${at}`);
      acknowledged.set(`key-${at}`, `value ${at}`);
    }
    await client.send(new DeleteObjectCommand({ Bucket: 'bucket', Key: 'key-0' }));
    acknowledged.delete('key-0');

    await failNext();
    const writes = Array.from({ length: 16 }, async (_, at) => {
      await put(client, 'bucket', `late-${at}`, `late ${at}`);
      acknowledged.set(`late-${at}`, `late ${at}`);
    });
    await Promise.allSettled(writes);
    expect(await exited).toEqual([null, 'SIGKILL']);
    expect(existsSync(`${data}.trigger`)).toBe(false);
    expect(service.output.stderr).toMatch(ended);
    client.destroy();

    const next = await startService({ data });
    const again = sdk({ url: next.url }, alice, { maxAttempts: 1 });
    for (const [key, value] of acknowledged) expect(await read(again, 'bucket', key)).toBe(value);
    const gone = again.send(new GetObjectCommand({ Bucket: 'bucket', Key: 'key-0' }));
    await expect(gone).rejects.toMatchObject({ name: 'NoSuchKey' });
    await put(again, 'bucket', 'after', 'after');
    expect(await read(again, 'bucket', 'after')).toBe('after');
    again.destroy();
    expect(await next.stop()).toBe(0);
    // An unanswered write may leave bytes without an owner, and nothing else.
    expect((await runProgram(['scrub', '--repair', '--data', data, '--min-age', '0'])).stderr).toBe('');
    await expectScrubClean(data);
  });

  it('fails once for a command, which says in one line that it may not have been done, and leaves the service alone', async () => {
    const data = join(folder, 'command');
    const service = await startService({ data });
    const trigger = `${data}.trigger`;
    await writeFile(trigger, '');
    const env = { LD_PRELOAD: library, FAIL_META_WRITE: trigger };
    const { code, stderr } = await runProgram(['customer', 'create', 'acme', '--data', data], { env });
    expect(code, stderr).toBe(1);
    expect(stderr).toMatch(/^stillage: the table did not answer; check whether the change was made, then try again$/m);
    const client = sdk({ url: service.url }, alice, { maxAttempts: 1 });
    await client.send(new CreateBucketCommand({ Bucket: 'bucket' }));
    await put(client, 'bucket', 'key', 'value');
    expect(await read(client, 'bucket', 'key')).toBe('value');
    client.destroy();
    expect(await service.stop()).toBe(0);
  });

  it('fails once within a program: the program goes on, the service has stopped, and says why', async () => {
    const data = join(folder, 'embedded');
    const trigger = `${data}.trigger`;
    const root = join(import.meta.dirname, '../..');
    const program = spawn(process.execPath, ['--import', 'tsx', 'test/support/programs/embedded-session.ts', data], {
      cwd: root,
      env: { ...process.env, LD_PRELOAD: library, FAIL_META_WRITE: trigger },
    });
    const exited = once(program, 'close');
    let said = '';
    const line = (pattern: RegExp): Promise<RegExpExecArray> =>
      vi.waitUntil(() => pattern.exec(said), { timeout: patience, interval: 20 });
    program.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [, url] = await line(/"endpoint":"([^"]+)"/);
    const client = sdk({ url: url! }, alice, { maxAttempts: 1 });
    await put(client, 'bucket', 'key', 'value');
    await writeFile(trigger, '');
    await put(client, 'bucket', 'late', 'late').catch(() => undefined);
    await line(/"level":"error","message":"the service has stopped"/);
    await expect(fetch(url!)).rejects.toThrow();
    client.destroy();
    program.stdin.end();
    const [, reason] = await line(/"stopped":false,"error":"([^"]+)"/);
    expect(reason).toBe(`a write to the table in ${data} failed on the disk: end this process, and start another one`);
    program.kill('SIGKILL');
    await exited;
    const next = await startService({ data });
    const again = sdk({ url: next.url }, alice, { maxAttempts: 1 });
    expect(await read(again, 'bucket', 'key')).toBe('value');
    again.destroy();
    expect(await next.stop()).toBe(0);
  });
});
