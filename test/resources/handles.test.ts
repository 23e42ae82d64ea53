import { describe, expect, it, onTestFinished } from 'vitest';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { exchange, RawConnection, requestBytes } from '../support/clients/raw-client.ts';
import { bob, startService, type Service } from '../support/programs/server.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';
import { run } from '../support/programs/programs.ts';
import { workersOf } from '../support/programs/worker-processes.ts';
import { handlesOf, idleConnections } from './processes.ts';
import { eventually } from '../support/runs/eventually.ts';

const large = Buffer.alloc(300_000, 'large');

/** Starts a service with a limit on the open handles of each process. */
async function startWith(handles: number, ...args: readonly string[]): Promise<Service> {
  const service = await startService({ args, under: ['bash', '-c', `ulimit -n ${handles}; "$@"; exit $?`, 'bash'] });
  onTestFinished(async () => {
    await service.kill();
  });
  return service;
}

/** Sends a request until it succeeds. Any other response must be a refusal, or a closed connection. */
async function served(service: Service, request: Unsigned): Promise<Buffer> {
  const host = new URL(service.url).host;
  return eventually(async () => {
    const answer = await exchange(service.url, signed(host, request, { key: bob })).catch(() => undefined);
    if (answer && ![200, 204, 503].includes(answer.status)) throw new Error(`${answer.status}: ${answer.text}`);
    if (answer?.status === 503) expect(answer.header('retry-after')).toBe('1');
    expect(answer?.status).toBeLessThan(300);
    return answer!.body;
  });
}

describe('a service with few file handles', () => {
  it.each([
    [64, []],
    [128, []],
    [128, ['--workers', '2']],
  ] as const)('goes on among idle connections, slow uploads and bursts: %d handles %j', async (handles, args) => {
    const service = await startWith(handles, ...args);
    await served(service, { method: 'PUT', path: '/bucket' });
    const idle = await idleConnections(service.url, 2 * handles);
    await served(service, { method: 'PUT', path: '/bucket/large', body: large });
    expect(await served(service, { path: '/bucket/large' })).toEqual(large);

    const host = new URL(service.url).host;
    const slow: RawConnection[] = [];
    for (let at = 0; at < handles; at += 1) {
      const upload = { method: 'PUT', path: `/bucket/slow-${at}`, body: large };
      const connection = await RawConnection.open(service.url).catch(() => undefined);
      connection?.write(requestBytes(signed(host, upload, { key: bob })).subarray(0, -1));
      if (connection) slow.push(connection);
    }
    await served(service, { method: 'PUT', path: '/bucket/small', body: 'small' });
    expect((await served(service, { path: '/bucket/small' })).toString()).toBe('small');
    expect((await served(service, { path: '/bucket', query: 'list-type=2' })).toString()).toContain('<Key>small</Key>');
    for (const socket of idle) socket.destroy();
    for (const connection of slow) connection.close();

    // A burst of reads that each need a handle: those that find none are refused.
    const client = new PooledClient(service, bob, handles);
    onTestFinished(() => client.close());
    const burst = await Promise.allSettled(
      Array.from({ length: 4 * handles }, () => client.send({ path: '/bucket/large' })),
    );
    const statuses = burst.map((one) => (one.status === 'fulfilled' ? one.value.status : 'closed'));
    expect(statuses.filter((status) => ![200, 503, 'closed'].includes(status))).toEqual([]);
    expect(statuses).toContain(200);

    expect(await served(service, { path: '/bucket/large' })).toEqual(large);
    await served(service, { method: 'PUT', path: '/bucket/after', body: large });
    expect(handlesOf(service.pid)).toBeLessThanOrEqual(handles);
    expect(service.output.stdout).not.toContain('"status":500');
    expect(await service.stop()).toBe(0);
  });

  it('survives that none is left for a connection, however many are allowed', async () => {
    const service = await startWith(64, '--limit', 'concurrentConnections=100000');
    await served(service, { method: 'PUT', path: '/bucket' });
    for (let round = 0; round < 3; round += 1) {
      const idle = await idleConnections(service.url, 200);
      expect(service.process.exitCode).toBeNull();
      for (const socket of idle) socket.destroy();
      await served(service, { method: 'PUT', path: '/bucket/large', body: large });
      expect(await served(service, { path: '/bucket/large' })).toEqual(large);
    }
    expect(await service.stop()).toBe(0);
  });

  it('answers those whose worker has none for them', async () => {
    const service = await startService({ args: ['--workers', '2'] });
    onTestFinished(async () => {
      await service.kill();
    });
    const worker = (await workersOf(service))[0]!;
    const limit = (soft: string) => run('prlimit', ['--pid', String(worker), `--nofile=${soft}:`]);
    const { stdout } = await run('prlimit', ['--pid', String(worker), '--nofile', '--output', 'SOFT', '--noheadings']);
    const names = new Set<string>();
    const ask = async (): Promise<RawConnection> => {
      const connection = await RawConnection.open(service.url);
      onTestFinished(() => connection.close());
      connection.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      const response = await connection.response();
      expect(response.status).toBe(200);
      names.add(response.header('x-amz-id-2')!);
      return connection;
    };
    for (let at = 0; at < 4; at += 1) await ask();
    expect(names.size).toBe(2);

    await limit('1');
    names.clear();
    for (let at = 0; at < 4; at += 1) await ask();
    expect(names.size).toBe(1);
    // Several at once, some of which wait for one another.
    await Promise.all(Array.from({ length: 10 }, ask));

    await limit(stdout.trim());
    for (let at = 0; at < 20; at += 1) await ask();
    expect(names.size).toBe(2);
    expect(await service.stop()).toBe(0);
    expect(service.output.stdout).not.toContain('"level":"error"');
  });

  it('does not start with fewer than it needs, and says so in one line', async () => {
    const start = ['bin/stillage.cjs', 'start', '--port', '0', '--console-port', '0', '--ephemeral'];
    const shell = ['-c', 'ulimit -n 40; "$@"', 'bash', process.execPath, ...start];
    const { code, stderr } = await run('bash', shell, { codes: [0, 1] });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^stillage: too few file handles are left: raise the limit of open files \(ulimit -n\) by \d+\n$/,
    );
  });
});

describe('a service with little address space', () => {
  /** 8 GB, of which a memory of WebAssembly alone would reserve more. */
  const limited = ['bash', '-c', 'ulimit -v 8000000; "$@"; exit $?', 'bash'] as const;

  it('does not start, and says so in one line', async () => {
    const start = ['bin/stillage.cjs', 'start', '--port', '0', '--console-port', '0', '--ephemeral'];
    const [bash, ...shell] = limited;
    const { code, stderr } = await run(bash, [...shell, process.execPath, ...start], { codes: [0, 1] });
    expect([code, stderr]).toEqual([
      1,
      'stillage: too little address space: lift its limit (ulimit -v), or set NODE_OPTIONS=--disable-wasm-trap-handler\n',
    ]);
  });

  it('takes uploads if Node.js checks the bounds of WebAssembly itself', async () => {
    const service = await startService({
      under: limited,
      env: { NODE_OPTIONS: '--disable-wasm-trap-handler' },
    });
    const client = new PooledClient(service, bob, 4);
    onTestFinished(async () => {
      client.close();
      await service.kill();
    });
    expect((await client.send({ method: 'PUT', path: '/bucket' })).status).toBe(200);
    for (const size of [1, 300_000]) {
      const put = { method: 'PUT', path: `/bucket/${size}`, body: Buffer.alloc(size, 'content') };
      expect((await client.send(put)).status).toBe(200);
    }
  });
});
