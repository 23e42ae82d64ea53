import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectError, s3Error } from '../support/clients/expect-error.ts';
import { put, read } from '../support/storage/objects.ts';
import { exchange, RawConnection, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { mayProcessNamespace, noProcessNamespace } from '../support/programs/process-namespace.ts';
import { alice, startService } from '../support/programs/server.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { anonymous, signed, type Unsigned } from '../support/clients/signer.ts';
import { workersOf } from '../support/programs/worker-processes.ts';
import { eventually } from '../support/runs/eventually.ts';

/** Tests the responses of a process that temporarily lacks a resource. */

const service = serviceUnderTest({ alone: true });
const run = promisify(execFile);

/** More than the table keeps: such an object is a file. */
const large = Buffer.alloc(100_000, 'x');

describe('processes without file handles', () => {
  const limit = async (pid: number, ...options: string[]): Promise<string> =>
    (await run('prlimit', ['--pid', String(pid), ...options])).stdout.trim();

  it('answer 503 to what needs one, and everything again once it has some', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'large', large);
    await put(service.client, bucket, 'small', 'content');
    const processes = [service.started!.pid, ...(await workersOf(service.started!))];
    const usual = await limit(processes[0]!, '--nofile', '--output', 'SOFT', '--noheadings', '--raw');
    // There is no handle for a connection either: these are there before, and where they stay.
    const requests: readonly Unsigned[] = [
      { method: 'PUT', path: `/${bucket}/new`, body: large },
      { path: `/${bucket}/large` },
      { path: `/${bucket}/small` },
      { method: 'PUT', path: `/${bucket}/small`, body: 'new content' },
      { method: 'DELETE', path: `/${bucket}/small` },
    ];
    const health = anonymous(service.host, { path: '/_stillage/health' });
    const all = [...requests.map((request) => signed(service.host, request, { key: service.alice })), health];
    const connections = await Promise.all(all.map(() => RawConnection.open(service.url)));
    for (const connection of connections) {
      connection.write(requestBytes(health));
      expect((await connection.response()).status).toBe(200);
    }
    const answers: RawResponse[] = [];
    try {
      for (const pid of processes) await limit(pid, '--nofile=1:');
      for (const [at, request] of all.entries()) {
        connections[at]!.write(requestBytes(request));
        answers.push(await connections[at]!.response(request.method));
      }
    } finally {
      for (const pid of processes) await limit(pid, `--nofile=${usual}:`);
      for (const connection of connections) connection.close();
    }
    const [written, got, small, putSmall, removed, ready] = answers;
    for (const refused of [written!, got!, ready!]) {
      expectError(refused, 503, 'SlowDown');
      expect(refused.header('retry-after')).toMatch(/^\d+$/);
    }
    expect([small!.status, putSmall!.status, removed!.status]).toEqual([200, 200, 204]);
    await put(service.client, bucket, 'new', large);
    expect(await read(service.client, bucket, 'large')).toBe(large.toString());
    // The result of the readiness probe may be a second old.
    await eventually(async () => expect((await service.sendUnsigned({ path: '/_stillage/health' })).status).toBe(200));
    expect(await service.log()).not.toMatch(/"status":500/);
  });
});

describe('a table whose writer does not let go', () => {
  it('has writes told to slow down, after half a minute, and reads go on', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const { data } = service.started!;
    const over = join(data, '..', 'over');
    const holder = spawn(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        "import { existsSync } from 'node:fs'; import { open } from 'lmdb'; const [path, over] = process.argv.slice(1);" +
          "open({ path, noSubdir: false }).transactionSync(() => { process.stdout.write('held');" +
          'const nobody = new Int32Array(new SharedArrayBuffer(4)); while (!existsSync(over)) Atomics.wait(nobody, 0, 0, 50); });',
        join(data, 'table'),
        over,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const ended = once(holder, 'close');
    onTestFinished(async () => {
      await writeFile(over, '');
      await ended;
    });
    await once(holder.stdout, 'data');
    const refused = put(service.client, bucket, 'key', 'new content');
    const outcome = expect(refused).rejects.toEqual(s3Error('SlowDown', 503));
    expect(await read(service.client, bucket, 'key')).toBe('content');
    await outcome;
    await writeFile(over, '');
    await ended;
    await put(service.client, bucket, 'key', 'new content');
    expect(await read(service.client, bucket, 'key')).toBe('new content');
  });
});

describe('a service of little priority, whose user may not raise it', () => {
  // Not root of this machine, which may.
  const under = ['nice', '-n', '19', 'unshare', '--user', '--map-root-user', 'bash', '-c', '"$@"; exit $?', 'bash'];

  it('stores a body whose digests a thread computes', async (context) => {
    if (!mayProcessNamespace) context.skip(noProcessNamespace);
    const started = await startService({ under });
    onTestFinished(() => started.kill());
    const send = (request: Unsigned): Promise<RawResponse> =>
      exchange(started.url, signed(new URL(started.url).host, request, { key: alice }));
    expect((await send({ method: 'PUT', path: '/bucket' })).status).toBe(200);
    expect((await send({ method: 'PUT', path: '/bucket/key', body: Buffer.alloc(1_000_000) })).status).toBe(200);
  });
});
