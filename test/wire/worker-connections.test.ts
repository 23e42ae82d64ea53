import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { schemeOptions } from '../support/clients/certificates.ts';
import { RawConnection, type RawResponse } from '../support/clients/raw-client.ts';
import { startService, type Service } from '../support/programs/server.ts';
import { workersOf } from '../support/programs/worker-processes.ts';

const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** The process that has answered. */
function nameOf(response: RawResponse): string {
  expect(response.status).toBe(200);
  return response.header('x-amz-id-2')!;
}

/** Opens a connection to each process of a service with a worker, by the name of the process, and has a request answered on each. */
async function connectionToEach(url: string, authority?: string): Promise<ReadonlyMap<string, RawConnection>> {
  const connections = new Map<string, RawConnection>();
  while (connections.size < 2) {
    const connection = await RawConnection.open(url, authority);
    connection.write(request);
    const name = nameOf(await connection.response());
    // The one of several at a process that is kept is the last: so none that is open goes away.
    connections.get(name)?.close();
    connections.set(name, connection);
  }
  return connections;
}

async function workerOf(service: Service): Promise<number> {
  return (await workersOf(service))[0]!;
}

describe.each(['http', 'https'])('connections over %s to a service with a worker', (scheme) => {
  let service: Service;
  let folder: string;
  let authority: string | undefined;
  let tls: readonly string[];
  let connections: ReadonlyMap<string, RawConnection>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stillage-connections-'));
    ({ tls, authority } = await schemeOptions(scheme, folder));
    service = await startService({ args: ['--workers', '2', ...tls] });
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
    await rm(folder, { recursive: true });
  });
  afterEach(() => connections.forEach((connection) => connection.close()));

  it('are served by both processes, for one request after another', async () => {
    connections = await connectionToEach(service.url, authority);
    for (const [name, connection] of connections) {
      for (let count = 0; count < 3; count += 1) {
        connection.write(request);
        expect(nameOf(await connection.response())).toBe(name);
      }
    }
  });

  it('take requests that were sent at once', async () => {
    connections = await connectionToEach(service.url, authority);
    for (const [name, connection] of connections) {
      connection.write(request.repeat(3));
      for (let count = 0; count < 3; count += 1) expect(nameOf(await connection.response())).toBe(name);
    }
  });

  it('are cut off by both if a request does not end in time', async () => {
    const impatient = await startService({ args: ['--workers', '2', '--limit', 'requestDuration=5000', ...tls] });
    connections = await connectionToEach(impatient.url, authority);
    for (const connection of connections.values()) connection.write('GET / HTTP/1.1\r\n');
    for (const connection of connections.values()) {
      expect((await connection.response()).text).toContain('<Code>RequestTimeout</Code>');
      expect(await connection.closedWithin(10_000)).toBe(true);
    }
    expect(await impatient.stop()).toBe(0);
  });

  it('are served when many come at once', async () => {
    connections = new Map();
    const names = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const connection = await RawConnection.open(service.url, authority);
        connection.write(request);
        const name = nameOf(await connection.response());
        connection.close();
        return name;
      }),
    );
    expect(new Set(names).size).toBe(2);
  });
});

describe('connections to a service with a worker', () => {
  let service: Service;
  const open: RawConnection[] = [];
  afterEach(async () => {
    for (const connection of open.splice(0)) connection.close();
    await service.stop();
  });

  it('of a client alone remain with that process when it connects again for each request', async () => {
    service = await startService({ args: ['--workers', '2'] });
    const names = new Set<string>();
    for (let count = 0; count < 30; count += 1) {
      const connection = await RawConnection.open(service.url);
      connection.write(request);
      names.add(nameOf(await connection.response()));
      connection.close();
    }
    expect(names.size).toBe(1);
  });

  it('are at first those of the process that commits, so a client alone waits for no other', async () => {
    service = await startService({ args: ['--workers', '2'] });
    const connection = await RawConnection.open(service.url);
    open.push(connection);
    connection.write(request);
    const name = nameOf(await connection.response());
    process.kill(await workerOf(service), 'SIGKILL');
    await expect.poll(() => service.output.stdout).toContain('a worker was started');
    connection.write(request);
    expect(nameOf(await connection.response())).toBe(name);
  });

  it('which a worker had not taken when it died are served by others', async () => {
    service = await startService({ args: ['--workers', '2'] });
    const worker = await workerOf(service);
    process.kill(worker, 'SIGSTOP');
    const answered: string[] = [];
    const requests = Array.from({ length: 20 }, async () => {
      const connection = await RawConnection.open(service.url);
      open.push(connection);
      connection.write(request);
      answered.push(nameOf(await connection.response()));
    });
    const settled = Promise.allSettled(requests);
    // Those of the primary.
    await expect.poll(() => answered.length).toBeGreaterThan(3);
    await expect.poll(() => open.length).toBe(20);
    process.kill(worker, 'SIGKILL');
    const results = await settled;
    // The worker had been sent one of them, which ends with it, and does not stay open.
    expect(results.filter(({ status }) => status === 'rejected').length).toBeLessThanOrEqual(1);
    expect(service.output.stdout).not.toContain('"level":"error","message":"a connection');
    const waits = await Promise.all(open.map((connection) => connection.closedWithin(0)));
    expect(waits.filter((isClosed) => !isClosed)).toHaveLength(answered.length);
  });
});
