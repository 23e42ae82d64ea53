import { createHash } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PooledClient, type PooledResponse } from '../support/clients/pooled-client.ts';
import { alice, bob, startService, type Service } from '../support/programs/server.ts';
import { queryOf, type Unsigned } from '../support/clients/signer.ts';
import { textOf } from '../support/clients/expect-error.ts';

/** In MiB. The service itself needs about half of it. */
const heap = 96;
/** How many requests of a kind are in progress, or wait for their turn, at the same time. */
const together = 64;
const keysOfPage = 1000;
/** As long as they may be, and as expensive: each character takes three bytes, and nine in a listing with `encoding-type=url`. */
const longKey = (number: number): string => `${String(number).padStart(4, '0')}-${'語'.repeat(339)}`;

async function start(): Promise<{ readonly service: Service; readonly client: PooledClient }> {
  const service = await startService({ env: { NODE_OPTIONS: `--max-old-space-size=${heap}` } });
  const client = new PooledClient(service, alice, together);
  onTestFinished(async () => {
    client.close();
    await service.kill();
  });
  expect((await client.send({ method: 'PUT', path: '/bucket' })).status).toBe(200);
  return { service, client };
}

/** Sends a request many times at once, each of which must be served, or refused for want of room. @returns how many were served */
async function served(client: PooledClient, request: Unsigned, expected: number): Promise<number> {
  const answers = await Promise.all(Array.from({ length: together }, () => client.send(request)));
  const wrong = answers.filter((answer) => answer.status !== expected && !isSlowDown(answer));
  expect(wrong.map(({ status, text }) => `${status} ${text}`)).toEqual([]);
  return answers.filter(({ status }) => status === expected).length;
}

function isSlowDown({ status, headers, text }: PooledResponse): boolean {
  return status === 503 && textOf(text, 'Code') === 'SlowDown' && headers['retry-after'] === '1';
}

/** Expects that the service is the process that it was, and serves others. */
async function expectWhole(service: Service): Promise<void> {
  const other = new PooledClient(service, bob, 1);
  const answer = await other.send({ path: '/' });
  other.close();
  expect(answer.status).toBe(200);
  expect(service.process.exitCode).toBeNull();
}

describe(`a service with a heap of ${heap} MiB, of which much is asked at once`, { timeout: 600_000 }, () => {
  it('lists pages of the longest keys', async () => {
    const { service, client } = await start();
    const keys = Array.from({ length: keysOfPage }, (_, number) => longKey(number));
    const puts = keys.map((key) =>
      client.send({ method: 'PUT', path: `/bucket/${encodeURIComponent(key)}`, body: key }),
    );
    expect(new Set((await Promise.all(puts)).map(({ status }) => status))).toEqual(new Set([200]));
    for (const query of ['list-type=2', 'versions=']) {
      const request = { path: '/bucket', query: `${query}&${queryOf({ 'encoding-type': 'url' })}` };
      expect(await served(client, request, 200)).toBeGreaterThan(0);
    }
    await expectWhole(service);
  });

  it('reads documents as long as they may be', async () => {
    const { service, client } = await start();
    const objects = Array.from({ length: keysOfPage }, (_, number) => `<Object><Key>${longKey(number)}</Key></Object>`);
    const remove = `<Delete>${objects.join('')}</Delete>`;
    expect(await served(client, documentOf('/bucket', 'delete', remove), 200)).toBeGreaterThan(0);

    const created = await client.send({ method: 'POST', path: '/bucket/key', query: 'uploads' });
    const parts = Array.from(
      { length: 10_000 },
      (_, index) => `<Part><PartNumber>${index + 1}</PartNumber>${etag}</Part>`,
    );
    const complete = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    const query = queryOf({ uploadId: textOf(created.text, 'UploadId')! });
    expect(await served(client, documentOf('/bucket/key', query, complete), 400)).toBeGreaterThan(0);
    await expectWhole(service);
  });

  it('takes uploads', async () => {
    const { service, client } = await start();
    const body = Buffer.alloc(4 * 1024 * 1024, 'upload');
    expect(await served(client, { method: 'PUT', path: '/bucket/upload', body }, 200)).toBeGreaterThan(0);
    expect(await served(client, { path: '/bucket/upload' }, 200)).toBeGreaterThan(0);
    await expectWhole(service);
  });
});

const etag = `<ETag>"${'0'.repeat(32)}"</ETag>`;

function documentOf(path: string, query: string, body: string): Unsigned {
  const md5 = createHash('md5').update(body).digest('base64');
  return { method: 'POST', path, query, body, headers: { 'content-md5': md5 } };
}
