import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { runProgram } from '../support/programs/program.ts';
import { alice, startService, type Service, type ServiceOptions } from '../support/programs/server.ts';
import { workersOf } from '../support/programs/worker-processes.ts';
import { expectAsKnown } from './as-known.ts';
import { Journal } from './journal.ts';
import { Writer } from './writer.ts';

const bucket = 'bucket';
/** The processes that serve requests: a primary, which also commits, and its workers. */
const count = 3;

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'stillage-workers-'));
});
afterEach(() => rm(data, { recursive: true }));

function startWorkers(options: ServiceOptions = {}): Promise<Service> {
  const limits = ['--limit', 'minimumPartBytes=1'];
  return startService({ data, ...options, args: ['--workers', String(count), ...limits, ...(options.args ?? [])] });
}

/** A client with one connection for each process: a connection is handed to one that has few. */
async function clientsOf(service: Service): Promise<readonly PooledClient[]> {
  const clients: PooledClient[] = [];
  const names = new Set<string>();
  while (names.size < count) {
    const client = new PooledClient(service, alice, 1);
    const { headers } = await client.send({ path: '/' });
    const name = String(headers['x-amz-id-2']);
    if (names.has(name)) client.close();
    else clients.push(client);
    names.add(name);
  }
  return clients;
}

describe('workers', () => {
  it('are one service: each sees at once what another has answered', async () => {
    const service = await startWorkers();
    expect(await workersOf(service)).toHaveLength(count - 1);
    const clients = await clientsOf(service);
    expect((await clients[0]!.send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
    for (let turn = 0; turn < 60; turn += 1) {
      const writer = clients[turn % count]!;
      const path = `/${bucket}/${turn}`;
      const claim = () => ({ method: 'PUT', path, body: 'content', headers: { 'if-none-match': '*' } });
      const claims = await Promise.all(clients.map((client) => client.send(claim())));
      const statuses = claims.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.filter((status) => status === 412)).toHaveLength(count - 1);

      // Alternately small and larger than a blob in the table.
      const body = `turn ${turn} `.repeat(turn % 2 === 0 ? 1 : 10_000);
      expect((await writer.send({ method: 'PUT', path, body })).status).toBe(200);
      const read = await Promise.all(clients.map((client) => client.send({ path })));
      expect(read.every(({ text }) => text === body)).toBe(true);
      const list = { path: `/${bucket}`, query: `list-type=2&prefix=${turn}` };
      const lists = await Promise.all(clients.map((client) => client.send(list)));
      for (const { text } of lists) expect(text).toContain(`<Key>${turn}</Key>`);
      const heads = await Promise.all(clients.map((client) => client.send({ method: 'HEAD', path: `/${bucket}` })));
      for (const { headers } of heads) expect(Number(headers['x-rgw-object-count'])).toBe(turn + 1);
    }
    for (const client of clients) client.close();
    expect(await service.stop()).toBe(0);
    expect(service.output.stdout).not.toContain('"level":"error"');
  });

  it('see a policy that another one was sent with their next request', async () => {
    const service = await startWorkers();
    const clients = await clientsOf(service);
    const [first] = clients as [PooledClient];
    expect((await first.send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
    expect((await first.send({ method: 'PUT', path: `/${bucket}/key`, body: 'a' })).status).toBe(200);
    const statement = { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${bucket}/*` };
    const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
    for (let turn = 0; turn < 20; turn += 1) {
      const client = clients[turn % count]!;
      const request = { path: `/${bucket}`, query: 'policy' };
      expect((await client.send({ ...request, method: 'PUT', body: policy })).status).toBe(204);
      const denied = await Promise.all(clients.map((one) => one.send({ path: `/${bucket}/key` })));
      expect(denied.map(({ status }) => status)).toEqual(clients.map(() => 403));
      expect((await client.send({ ...request, method: 'DELETE' })).status).toBe(204);
      const allowed = await Promise.all(clients.map((one) => one.send({ path: `/${bucket}/key` })));
      expect(allowed.map(({ status }) => status)).toEqual(clients.map(() => 200));
    }
    for (const client of clients) client.close();
    expect(await service.stop()).toBe(0);
  });

  it('take turns at one key, so that none of many writers is sent away', async () => {
    const service = await startWorkers();
    const client = new PooledClient(service);
    expect((await client.send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
    const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    await client.send({ method: 'PUT', path: `/${bucket}`, query: 'versioning', body: versioning });
    const puts = Array.from({ length: 300 }, (_, n) =>
      client.send({ method: 'PUT', path: `/${bucket}/key`, body: String(n) }),
    );
    expect((await Promise.all(puts)).filter(({ status }) => status !== 200)).toEqual([]);
    const { text } = await client.send({ path: `/${bucket}`, query: 'versions' });
    expect(text.match(/<Version>/g)).toHaveLength(300);
    client.close();
    expect(await service.stop()).toBe(0);
  });

  it('keep the quota of the service, to the object', async () => {
    const service = await startWorkers({ args: ['--limit', 'bucketObjects=40'] });
    const client = new PooledClient(service);
    expect((await client.send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
    const put = (n: number) => client.send({ method: 'PUT', path: `/${bucket}/${n}`, body: 'a' });
    const puts = await Promise.all(Array.from({ length: 120 }, (_, n) => put(n)));
    expect(puts.filter(({ status }) => status === 200)).toHaveLength(40);
    expect(puts.filter(({ status }) => status === 403)).toHaveLength(80);
    const kept = puts.findIndex(({ status }) => status === 200);
    for (let turn = 0; turn < 12; turn += 1) {
      // A finished request does not block the next one, whichever worker serves it.
      expect((await client.send({ method: 'DELETE', path: `/${bucket}/${kept}` })).status).toBe(204);
      expect((await put(kept)).status).toBe(200);
    }
    client.close();
    expect(await service.stop()).toBe(0);
  });

  it('count the requests of a party together', async () => {
    const service = await startWorkers({ args: ['--limit', 'requestsPerSecond=20'] });
    const client = new PooledClient(service);
    const started = Date.now();
    const answers = await Promise.all(Array.from({ length: 200 }, () => client.send({ path: '/' })));
    const admitted = answers.filter(({ status }) => status === 200).length;
    expect(admitted).toBeGreaterThanOrEqual(20);
    expect(admitted).toBeLessThanOrEqual(20 + Math.ceil((20 * (Date.now() - started)) / 1000));
    client.close();
    expect(await service.stop()).toBe(0);
  });

  it('write whole lines to one log', async () => {
    const service = await startWorkers();
    const client = new PooledClient(service);
    const answers = await Promise.all(Array.from({ length: 600 }, () => client.send({ path: '/' })));
    const ids = answers.map(({ headers }) => String(headers['x-amz-request-id']));
    client.close();
    expect(await service.stop()).toBe(0);
    const lines = service.output.stdout.trim().split('\n');
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(logged.map(({ requestId }) => requestId)).toEqual(expect.arrayContaining(ids));
    expect(logged.filter(({ message }) => message === 'stopped')).toHaveLength(1);
  });

  it('lose nothing if one is killed, which is replaced while the others go on', async () => {
    const journal = new Journal();
    const service = await startWorkers();
    const client = new PooledClient(service);
    expect((await client.send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
    for (let round = 0; round < 4; round += 1) {
      const connections = Array.from({ length: 12 }, () => new PooledClient(service, alice, 1));
      const team = connections.map((one, n) => new Writer(one, bucket, `writer-${round}-${n}`, journal));
      const broken = new Set<Writer>();
      const work = Promise.all(team.map((writer) => writer.run().then(() => broken.add(writer))));
      await sleep(200 + Math.random() * 300);
      const victim = (await workersOf(service))[round % (count - 1)]!;
      process.kill(victim, 'SIGKILL');
      await expect.poll(() => broken.size).toBeGreaterThan(0);
      const others = team.filter((writer) => !broken.has(writer));
      expect(others.length).toBeGreaterThan(0);
      const acknowledged = (): number => others.reduce((sum, writer) => sum + writer.acknowledged, 0);
      const before = acknowledged();
      await expect.poll(acknowledged).toBeGreaterThan(before + 50);
      await expect.poll(() => started(service)).toBe(count * round + 1);
      expect(await workersOf(service)).not.toContain(victim);
      // Ends the writers that are left, also those at the primary.
      for (const one of await workersOf(service)) process.kill(one, 'SIGKILL');
      const left = setInterval(() => connections.forEach((one) => one.close()), 20);
      await work;
      clearInterval(left);
      await expect.poll(() => started(service)).toBe(count * (round + 1));
      const fresh = new PooledClient(service);
      await expectAsKnown(fresh, bucket, journal);
      fresh.close();
    }
    client.close();
    expect(service.output.stdout).toContain('a worker died');
    expect(await service.stop()).toBe(0);
  });

  it('end with the process that commits for them, and lose nothing', async () => {
    const journal = new Journal();
    for (let round = 0; round < 4; round += 1) {
      const service = await startWorkers();
      const client = new PooledClient(service);
      expect((await client.send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
      await expectAsKnown(client, bucket, journal);
      const team = Array.from({ length: 12 }, (_, n) => new Writer(client, bucket, `writer-${n}`, journal));
      const work = Promise.all(team.map((writer) => writer.run()));
      const workers = await workersOf(service);
      await sleep(200 + Math.random() * 300);
      await service.kill();
      await work;
      client.close();
      await expect.poll(() => workers.filter(isRunning)).toEqual([]);
    }
    const service = await startService({ data });
    const client = new PooledClient(service);
    await expectAsKnown(client, bucket, journal);
    client.close();
    expect(await service.stop()).toBe(0);
  });

  it('finish what they are doing when the service is stopped', async () => {
    const service = await startWorkers();
    const client = new PooledClient(service);
    expect((await client.send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
    const body = Buffer.alloc(3_000_000, 'a');
    const puts = Array.from({ length: 12 }, (_, n) => client.send({ method: 'PUT', path: `/${bucket}/${n}`, body }));
    await Promise.race(puts);
    const workers = await workersOf(service);
    const stopped = service.stop();
    const answers = await Promise.allSettled(puts);
    expect(answers.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(await stopped).toBe(0);
    expect(workers.filter(isRunning)).toEqual([]);
    client.close();
  });
});

describe('a second service on a data directory', () => {
  it.each(['1', '2'])('is refused in one line, beside a first one with %s workers', async (workers) => {
    const service = await startService({ data, args: ['--workers', workers] });
    const { code, stderr } = await runProgram(['start', '--port', '0', '--data', data]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      `stillage: --data: process ${service.pid} serves ${data}: stop it first, or use another directory\n`,
    );
    // Administration is welcome.
    expect((await runProgram(['customer', 'list', '--data', data])).code).toBe(0);
    expect(await service.stop()).toBe(0);
    expect((await readdir(data)).filter((name) => name.endsWith('.sock'))).toEqual([]);
  });

  it('starts once the first one was killed', async () => {
    await (await startService({ data })).kill();
    const service = await startService({ data });
    expect((await readdir(data)).filter((name) => name.endsWith('.sock'))).toHaveLength(1);
    expect(await service.stop()).toBe(0);
  });

  it('is the only one of several that are started at the same time', async () => {
    await (await startService({ data })).kill();
    const started = await Promise.allSettled(Array.from({ length: 4 }, () => startService({ data })));
    const services = started.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
    expect(services).toHaveLength(1);
    expect(await services[0]!.stop()).toBe(0);
  });
});

/** How many workers have been replaced. */
function started({ output }: Service): number {
  return output.stdout.split('a worker was started').length - 1;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
