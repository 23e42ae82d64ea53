import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PooledClient } from '../support/pooled-client.ts';
import { startService } from '../support/server.ts';
import { expectAsKnown } from './as-known.ts';
import { Journal } from './journal.ts';
import { Writer } from './writer.ts';

const bucket = 'bucket';
const options = { args: ['--limit', 'minimumPartBytes=1'] };

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'stillage-shared-'));
});
afterEach(() => rm(data, { recursive: true }));

/** One takes over from the other while it still runs, as when a service is restarted with a new version. */
describe('two services on one data directory', () => {
  it('are one service', async () => {
    const services = [await startService({ data }), await startService({ data })];
    const [one, other] = services.map((service) => new PooledClient(service)) as [PooledClient, PooledClient];
    expect((await one.send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
    for (let turn = 0; turn < 50; turn += 1) {
      const [writer, reader] = turn % 2 === 0 ? [one, other] : [other, one];
      const path = `/${bucket}/${turn}`;
      const create = () => ({ method: 'PUT', path, body: 'content', headers: { 'if-none-match': '*' } });
      const created = await Promise.all([writer.send(create()), reader.send(create())]);
      expect(created.map(({ status }) => status).sort()[0]).toBe(200);
      expect(created.map(({ status }) => status).sort()[1]).toBeGreaterThanOrEqual(409);
      expect((await writer.send({ method: 'PUT', path, body: `turn ${turn}` })).status).toBe(200);
      expect((await reader.send({ path })).text).toBe(`turn ${turn}`);
      const { headers } = await reader.send({ method: 'HEAD', path: `/${bucket}` });
      expect(Number(headers['x-rgw-object-count'])).toBe(turn + 1);
    }
    one.close();
    other.close();
    for (const service of services) {
      expect(await service.stop()).toBe(0);
      expect(service.output.stdout).not.toContain('"level":"error"');
    }
  });

  it('lose nothing if one is killed while both are writing, and the other goes on', { timeout: 120_000 }, async () => {
    const journal = new Journal();
    for (let round = 0; round < 3; round += 1) {
      const services = [await startService({ data, ...options }), await startService({ data, ...options })];
      const clients = services.map((service) => new PooledClient(service));
      expect((await clients[0]!.send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
      await expectAsKnown(clients[0]!, bucket, journal);

      const teams = clients.map((client, index) =>
        Array.from({ length: 8 }, (_, n) => new Writer(client, bucket, `writer-${index}-${n}`, journal)),
      );
      const work = teams.map((team) => Promise.all(team.map((writer) => writer.run())));
      const acknowledged = () => teams[1]!.reduce((sum, writer) => sum + writer.acknowledged, 0);
      await sleep(200 + Math.random() * 300);
      await services[0]!.kill();
      const before = acknowledged();
      await expect.poll(acknowledged, { timeout: 10_000 }).toBeGreaterThan(before + 50);
      await services[1]!.kill();
      await Promise.all(work);
      for (const client of clients) client.close();
    }
    const service = await startService({ data });
    const client = new PooledClient(service);
    await expectAsKnown(client, bucket, journal);
    client.close();
    expect(await service.stop()).toBe(0);
  });
});
