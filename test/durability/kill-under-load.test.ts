import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textOf, textsOf } from '../support/expect-error.ts';
import { PooledClient } from '../support/pooled-client.ts';
import { runProgram } from '../support/program.ts';
import { startService } from '../support/server.ts';
import { queryOf } from '../support/signer.ts';
import { Journal, type Content } from './journal.ts';
import { Writer } from './writer.ts';

const rounds = process.env['STILLAGE_LONG'] ? 40 : 20;
const writers = 32;
const bucket = 'bucket';

let data: string;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'stillage-killed-'));
});
afterAll(() => rm(data, { recursive: true }));

/**
 * Whatever was acknowledged is there after the process was killed at any instant, and nothing is there by halves. (That it is
 * on the disk, and not only in the memory of the system, is shown by the tests that trace system calls.)
 */
describe('a service killed under load', () => {
  const journal = new Journal();
  let acknowledged = 0;

  it(`keeps what it acknowledged, ${rounds} times with ${writers} writers`, { timeout: 10_000 * rounds }, async () => {
    for (let round = 0; round < rounds; round += 1) {
      const service = await startService({ data, args: ['--limit', 'minimumPartBytes=1'] });
      const client = new PooledClient(service);
      expect((await client.send({ method: 'PUT', path: `/${bucket}` })).status).toBe(200);
      await expectAsKnown(client, journal);
      expect(service.output.stdout).not.toContain('"level":"error"');

      const team = Array.from({ length: writers }, (_, n) => new Writer(client, bucket, `writer-${n}`, journal));
      const work = Promise.all(team.map((writer) => writer.run()));
      await Promise.race([work, sleep(100 + Math.random() * 900)]);
      await service.kill();
      await work;
      client.close();
      acknowledged += team.reduce((sum, writer) => sum + writer.acknowledged, 0);
      if (round % 4 === 3)
        await runProgram(['start', '--port', '0', '--data', data], { killAfter: Math.random() * 500 });
    }
    console.log(`${rounds} rounds, ${acknowledged} acknowledged changes, ${journal.objects().size} objects`);
    expect(acknowledged).toBeGreaterThan(rounds * writers);

    const service = await startService({ data });
    const client = new PooledClient(service);
    await expectAsKnown(client, journal);
    client.close();
    expect(await service.stop()).toBe(0);
  });
});

/** Expects that everything the service shows is what the writers know, and that its answers agree with each other. */
async function expectAsKnown(client: PooledClient, journal: Journal): Promise<void> {
  for (const key of journal.touched()) journal.found(key, await read(client, key, journal.possible(key)));
  const objects = journal.objects();

  const listed = await list(client);
  const known = [...objects].map(([key, { bytes, etag }]) => [key, { size: bytes.length, etag }] as const);
  expect(listed).toEqual(new Map(known));

  const { headers } = await client.send({ method: 'HEAD', path: `/${bucket}` });
  expect(Number(headers['x-rgw-object-count'])).toBe(objects.size);
  expect(Number(headers['x-rgw-bytes-used'])).toBe(known.reduce((sum, [, { size }]) => sum + size, 0));
  await abortUploads(client);
}

/** The state of a key, which must be one of these. */
async function read(
  client: PooledClient,
  key: string,
  possible: readonly (Content | 'absent')[],
): Promise<Content | 'absent'> {
  const [got, head] = await Promise.all(
    ['GET', 'HEAD'].map((method) => client.send({ method, path: `/${bucket}/${key}` })),
  );
  expect(head!.status).toBe(got!.status);
  expect([200, 404]).toContain(got!.status);
  const state = possible.find((one) =>
    one === 'absent' ? got!.status === 404 : got!.status === 200 && got!.headers.etag === one.etag,
  );
  if (state === undefined)
    throw new Error(`${key} is found in a state that it cannot have: ${got!.status} ${got!.headers.etag}`);
  if (state !== 'absent') {
    expect(got!.body.equals(state.bytes)).toBe(true);
    for (const name of ['etag', 'content-length', 'last-modified'] as const) {
      expect(head!.headers[name]).toBe(got!.headers[name]);
    }
  }
  return state;
}

async function list(client: PooledClient): Promise<Map<string, { size: number; etag: string }>> {
  const found = new Map<string, { size: number; etag: string }>();
  for (let after: string | undefined = ''; after !== undefined;) {
    const query = queryOf({ 'list-type': '2', ...(after !== '' && { 'continuation-token': after }) });
    const { text } = await client.send({ path: `/${bucket}`, query });
    const etags = textsOf(text, 'ETag');
    const sizes = textsOf(text, 'Size');
    for (const [index, key] of textsOf(text, 'Key').entries()) {
      expect(found.has(key)).toBe(false);
      found.set(key, { size: Number(sizes[index]), etag: etags[index]! });
    }
    after = textOf(text, 'NextContinuationToken');
  }
  return found;
}

/** What was being uploaded when the process was killed can still be given up. */
async function abortUploads(client: PooledClient): Promise<void> {
  for (;;) {
    const { text } = await client.send({ path: `/${bucket}`, query: 'uploads' });
    const ids = textsOf(text, 'UploadId');
    if (ids.length === 0) return;
    for (const [index, key] of textsOf(text, 'Key').entries()) {
      const query = queryOf({ uploadId: ids[index]! });
      expect((await client.send({ method: 'DELETE', path: `/${bucket}/${key}`, query })).status).toBe(204);
    }
  }
}
