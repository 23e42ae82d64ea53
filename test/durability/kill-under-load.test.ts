import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { runProgram } from '../support/programs/program.ts';
import { startService } from '../support/programs/server.ts';
import { expectAsKnown } from './as-known.ts';
import { Journal } from './journal.ts';
import { Writer } from './writer.ts';

const rounds = process.env['TEST_LONG'] ? 40 : 20;
const writers = 32;
const bucket = 'bucket';

let data: string;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'stillage-killed-'));
});
afterAll(() => rm(data, { recursive: true }));

/**
 * Every acknowledged change survives a kill of the process at any moment, and no change is there in part. (The tests that trace system
 * calls show that it is on the disk, and not only in the memory of the system.)
 */
describe('a service killed under load', () => {
  const journal = new Journal();
  let acknowledged = 0;

  it(`keeps what it acknowledged, ${rounds} times with ${writers} writers`, { timeout: 60_000 * rounds }, async () => {
    for (let round = 0; round < rounds; round += 1) {
      const service = await startService({ data, args: ['--limit', 'minimumPartBytes=1'] });
      const client = new PooledClient(service);
      expect((await client.send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
      await expectAsKnown(client, bucket, journal);
      expect(service.output.stdout).not.toContain('"level":"error"');

      const team = Array.from({ length: writers }, (_, n) => new Writer(client, bucket, `writer-${n}`, journal));
      const work = Promise.all(team.map((writer) => writer.run()));
      const enough = Math.random() * 200;
      while (sum(team) < enough) await Promise.race([work, sleep(Math.random() * 10)]);
      await service.kill();
      await work;
      client.close();
      acknowledged += sum(team);
      if (round % 4 === 3)
        await runProgram(['start', '--port', '0', '--data', data], { killAfter: Math.random() * 500 });
    }
    console.log(`${rounds} rounds, ${acknowledged} acknowledged changes, ${journal.objects().size} objects`);
    expect(acknowledged).toBeGreaterThan(rounds * 20);

    const service = await startService({ data });
    const client = new PooledClient(service);
    await expectAsKnown(client, bucket, journal);
    client.close();
    expect(await service.stop()).toBe(0);
  });
});

function sum(team: readonly Writer[]): number {
  return team.reduce((all, { acknowledged }) => all + acknowledged, 0);
}

describe('a service killed during its first start', () => {
  it('starts the next time as if it were the first', async () => {
    const fresh = (name: string | number): string => join(data, `fresh-${name}`);
    const started = Date.now();
    await (await startService({ data: fresh('whole') })).kill();
    const duration = Date.now() - started;
    for (let round = 0; round < 8; round += 1) {
      const killAfter = duration * (0.3 + 0.7 * Math.random());
      await runProgram(['start', '--port', '0', '--data', fresh(round)], { killAfter });
      const service = await startService({ data: fresh(round) });
      const client = new PooledClient(service);
      expect((await client.send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
      client.close();
      expect(await service.stop()).toBe(0);
    }
  });
});
