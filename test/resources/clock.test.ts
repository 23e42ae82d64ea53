import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { textOf, textsOf } from '../support/clients/expect-error.ts';
import { PooledClient, type PooledResponse } from '../support/clients/pooled-client.ts';
import { RawConnection, requestBytes } from '../support/clients/raw-client.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { run } from '../support/programs/programs.ts';
import { queryOf, signed, type Key, type Unsigned } from '../support/clients/signer.ts';
import { FailingCalls } from './failing-calls.ts';
import { eventually } from '../support/runs/eventually.ts';

const hour = 3600;
const [ahead, behind] = [6 * hour, -6 * hour];

let calls: FailingCalls | string;
let service: Service;
let client: PooledClient;
/** How far the clock of the service is ahead, in seconds. */
let offset = 0;

beforeAll(async () => {
  calls = await FailingCalls.build();
  if (typeof calls === 'string') return;
  service = await startService({
    env: calls.environment,
    args: ['--limit', 'bodyIdle=2000,bodyGrace=60000,minimumPartBytes=1'],
  });
  client = new PooledClient(service, alice, 2);
  expect((await send({ method: 'PUT', path: '/bucket' })).status).toBe(200);
});
beforeEach((context) => {
  if (typeof calls === 'string') context.skip(calls);
  else setClock(0);
});
afterAll(async () => {
  if (typeof calls === 'string') return;
  client.close();
  await service.kill();
  await calls.remove();
});

function setClock(seconds: number): void {
  offset = seconds;
  (calls as FailingCalls).setClock(seconds);
}

/** Sends a request that is signed by the clock of the service. */
const send = (request: Unsigned): Promise<PooledResponse> => client.send(request, { time: Date.now() + 1000 * offset });

/** Runs a command beside the service, with its clock. */
async function command(...args: readonly string[]): Promise<string> {
  const { environment } = calls as FailingCalls;
  const { stdout } = await run(process.execPath, ['bin/stillage.cjs', ...args, '--data', service.data], {
    env: environment,
  });
  return stdout;
}

const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';

describe('a clock that jumps', () => {
  it.each([ahead, behind])(
    'by %d seconds: requests are signed too early or too late, until clients have the same',
    async (jump) => {
      setClock(jump);
      const skewed = await client.send({ path: '/bucket' });
      expect([skewed.status, textOf(skewed.text, 'Code')]).toEqual([403, 'RequestTimeTooSkewed']);
      expect((await send({ path: '/bucket' })).status).toBe(200);
      setClock(0);
      expect((await client.send({ path: '/bucket' })).status).toBe(200);
    },
  );

  it('changes neither the order of versions nor which one is current, and makes no id twice', async () => {
    expect((await send({ method: 'PUT', path: '/versions' })).status).toBe(200);
    expect((await send({ method: 'PUT', path: '/versions', query: 'versioning', body: versioning })).status).toBe(200);
    const ids: string[] = [];
    for (const [at, jump] of [0, ahead, 0, behind, ahead, behind, 0].entries()) {
      setClock(jump);
      const { status, headers } = await send({ method: 'PUT', path: '/versions/key', body: `version ${at}` });
      expect(status).toBe(200);
      ids.push(headers['x-amz-version-id'] as string);
      expect((await send({ path: '/versions/key' })).text).toBe(`version ${at}`);
    }
    const { text } = await send({ path: '/versions', query: 'versions' });
    expect(textsOf(text, 'VersionId')).toEqual(ids.toReversed());
    expect(textsOf(text, 'IsLatest')).toEqual(['true', ...ids.slice(1).map(() => 'false')]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('does not disturb an upload of parts', async () => {
    const path = '/bucket/parts';
    const { text } = await send({ method: 'POST', path, query: 'uploads' });
    const uploadId = textOf(text, 'UploadId')!;
    const parts: string[] = [];
    for (const [at, jump] of [ahead, behind, 0].entries()) {
      setClock(jump);
      const query = queryOf({ partNumber: String(at + 1), uploadId });
      const { headers } = await send({ method: 'PUT', path, query, body: Buffer.alloc(100_000, `${at}`) });
      parts.push(`<Part><PartNumber>${at + 1}</PartNumber><ETag>${headers.etag!}</ETag></Part>`);
    }
    setClock(behind);
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
    expect((await send({ method: 'POST', path, query: queryOf({ uploadId }), body })).status).toBe(200);
    expect((await send({ path })).body).toHaveLength(300_000);
  });

  it('does not make a body late that arrives in time, nor one timely that stands still', async () => {
    const host = new URL(service.url).host;
    const upload = signed(host, { method: 'PUT', path: '/bucket/slow', body: 'slowly' }, { key: alice });
    const bytes = requestBytes(upload);
    const connection = await RawConnection.open(service.url);
    connection.write(bytes.subarray(0, -6));
    await sleep(300);
    for (const [at, byte] of [...'slowly'].entries()) {
      setClock([ahead, behind, 0][at % 3]!);
      await sleep(700);
      connection.write(byte);
    }
    expect((await connection.response('PUT')).status).toBe(200);
    connection.close();

    setClock(0);
    const stalled = await RawConnection.open(service.url);
    stalled.write(bytes.subarray(0, -1));
    await sleep(100);
    setClock(behind);
    const answer = await stalled.response('PUT');
    expect([answer.status, textOf(answer.text, 'Code')]).toEqual([400, 'RequestTimeout']);
    stalled.close();
  });

  it('does not keep a deleted access key alive', async () => {
    const user = 'main:temporary@example.test';
    await command('user', 'create', user);
    const key = JSON.parse(await command('key', 'create', user, '--json')) as Key;
    const other = new PooledClient(service, key, 1);
    const ask = async (): Promise<number> =>
      (await other.send({ path: '/' }, { time: Date.now() + 1000 * offset })).status;
    setClock(ahead);
    expect(await ask()).toBe(200);
    setClock(0);
    await command('key', 'remove', key.accessKeyId);
    await eventually(async () => expect(await ask()).toBe(403));
    other.close();
  });

  it('has lifecycle rules delete nothing that is not due by it', async () => {
    const rule =
      '<Rule><ID>r</ID><Status>Enabled</Status><Filter><Prefix>temporary/</Prefix></Filter><Expiration><Days>1</Days></Expiration></Rule>';
    const body = `<LifecycleConfiguration>${rule}</LifecycleConfiguration>`;
    expect((await send({ method: 'PUT', path: '/bucket', query: 'lifecycle', body })).status).toBe(200);
    const objects = ['temporary/now', 'temporary/behind', 'kept'];
    for (const [name, jump] of [
      ['temporary/now', 0],
      ['temporary/behind', behind],
      ['kept', 0],
    ] as const) {
      setClock(jump);
      expect((await send({ method: 'PUT', path: `/bucket/${name}`, body: 'body' })).status).toBe(200);
    }
    const present = async (): Promise<string[]> => {
      const answers = await Promise.all(objects.map((name) => send({ method: 'HEAD', path: `/bucket/${name}` })));
      return objects.filter((_, at) => answers[at]!.status === 200);
    };
    for (const jump of [ahead, behind, 0]) {
      setClock(jump);
      await command('run', 'apply-lifecycle');
      expect(await present()).toEqual(objects);
    }
    setClock(72 * hour);
    await command('run', 'apply-lifecycle');
    expect(await present()).toEqual(['kept']);
    setClock(0);
    expect((await send({ method: 'PUT', path: '/bucket/temporary/after', body: 'body' })).status).toBe(200);
    await command('run', 'apply-lifecycle');
    expect((await send({ path: '/bucket/temporary/after' })).status).toBe(200);
  });
});
