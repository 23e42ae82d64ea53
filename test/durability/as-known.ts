import { expect } from 'vitest';
import { textOf, textsOf } from '../support/clients/expect-error.ts';
import type { PooledClient } from '../support/clients/pooled-client.ts';
import { queryOf } from '../support/clients/signer.ts';
import type { Journal, State } from './journal.ts';

/** Expects that everything the service returns is as the writers know it, and that its answers agree with each other. */
export async function expectAsKnown(client: PooledClient, bucket: string, journal: Journal): Promise<void> {
  for (const key of journal.touched())
    journal.found(key, await read(client, `/${bucket}/${key}`, journal.possible(key)));
  const objects = journal.objects();

  const listed = await list(client, bucket);
  const known = [...objects].map(([key, { bytes, etag }]) => [key, { size: bytes.length, etag }] as const);
  expect(listed).toEqual(new Map(known));

  const { headers } = await client.send({ method: 'HEAD', path: `/${bucket}` });
  expect(Number(headers['x-rgw-object-count'])).toBe(objects.size);
  expect(Number(headers['x-rgw-bytes-used'])).toBe(known.reduce((sum, [, { size }]) => sum + size, 0));
  await abortUploads(client, bucket);
}

/** The state of a key, which must be one of these. */
async function read(client: PooledClient, path: string, possible: readonly State[]): Promise<State> {
  const [got, head] = await Promise.all(['GET', 'HEAD'].map((method) => client.send({ method, path })));
  expect(head!.status).toBe(got!.status);
  expect([200, 404]).toContain(got!.status);
  const state = possible.find((one) =>
    one === 'absent' ? got!.status === 404 : got!.status === 200 && got!.headers.etag === one.etag,
  );
  if (state === undefined)
    throw new Error(`${path} is found in a state that it cannot have: ${got!.status} ${got!.headers.etag}`);
  if (state !== 'absent') {
    expect(got!.body.equals(state.bytes)).toBe(true);
    for (const name of ['etag', 'content-length', 'last-modified'] as const) {
      expect(head!.headers[name]).toBe(got!.headers[name]);
    }
  }
  return state;
}

async function list(client: PooledClient, bucket: string): Promise<Map<string, { size: number; etag: string }>> {
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

/** Uploads in progress when the process was killed can still be aborted. */
async function abortUploads(client: PooledClient, bucket: string): Promise<void> {
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
