import { expect, it } from 'vitest';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { auditPage, AuditLog } from '../../../shared/audit/audit-log.ts';
import { BlobsBusy } from '../../../shared/ports/blob-store.ts';
import { TableBusy } from '../../../shared/ports/key-value-table.ts';
import { defineOperation } from '../../../shared/protocol/operation.ts';
import { SetClock } from '../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';
import { person, PipelineInProcess } from '../../support/storage/pipeline-in-process.ts';

const owner = person('owner');

it('tells clients to slow down while the table is too busy, and the operator why', async () => {
  const service = new PipelineInProcess([owner]);
  service.table.write = () => Promise.reject(new TableBusy());
  const answer = await service.send({ method: 'PUT', path: '/bucket' }, owner);
  expect(answer).toMatchObject({ status: 503, code: 'SlowDown' });
  expect(answer.header('retry-after')).toBe('1');
  expect(service.problems).toMatchObject([
    [
      'a request failed',
      expect.any(TableBusy),
      { operation: 'CreateBucket', requestId: answer.header('x-amz-request-id') },
    ],
  ]);
});

it('tells clients to slow down while the blob store is too busy', async () => {
  const service = new PipelineInProcess([owner], {
    before: (blobs) =>
      Object.assign(Object.create(blobs) as typeof blobs, { write: () => Promise.reject(new BlobsBusy()) }),
  });
  await service.send({ method: 'PUT', path: '/bucket' }, owner);
  const answer = await service.send({ method: 'PUT', path: '/bucket/key', body: 'x' }, owner);
  expect(answer).toMatchObject({ status: 503, code: 'SlowDown' });
  expect(answer.header('retry-after')).toBe('1');
  expect(service.problems).toMatchObject([['a request failed', expect.any(BlobsBusy), { operation: 'PutObject' }]]);
});

it.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM'])(
  'tells clients to slow down where the machine has run out: %s',
  async (code) => {
    const error = Object.assign(new Error(`${code}: no more`), { code });
    const full = new Error('the blob could not be written', { cause: error });
    const service = new PipelineInProcess([owner], {
      before: (blobs) => Object.assign(Object.create(blobs) as typeof blobs, { write: () => Promise.reject(full) }),
    });
    await service.send({ method: 'PUT', path: '/bucket' }, owner);
    const answer = await service.send({ method: 'PUT', path: '/bucket/key', body: 'x' }, owner);
    expect(answer).toMatchObject({ status: 503, code: 'SlowDown' });
    expect(answer.header('retry-after')).toBe('1');
    expect(answer.text).not.toContain(code);
  },
);

it('gives operations a context that keeps every service when it is spread', async () => {
  let spread: object = {};
  const listBuckets = defineOperation({
    name: 'ListBuckets',
    on: 'service',
    body: 'none',
    needs: { table: 'read' },
    parse: () => undefined,
    authorise: () => [],
    act: async (_, context) => {
      spread = { ...context };
    },
    render: () => ({}),
  });
  const service = new PipelineInProcess([owner], { operations: new Map([['ListBuckets', listBuckets]]) });
  expect(await service.send({ method: 'GET', path: '/' }, owner)).toMatchObject({ status: 200 });
  expect(spread).toMatchObject(service.services);
});

it('answers no change of a setting as done that is not taken down, where that is asked for', async () => {
  const table = new MemoryTable();
  const [clock, randomness] = [new SetClock(Date.now()), new CryptoRandomness()];
  const audit = new AuditLog({ table, clock, randomness }, undefined, () => undefined, true);
  const service = new PipelineInProcess([owner], { table, clock, audit });
  const recorded = async (): Promise<readonly string[]> =>
    (await auditPage(table, { from: 0, to: clock.now() })).records.map(({ event }) => event).toSorted();
  const put = (name: string) => service.send({ method: 'PUT', path: `/${name}` }, owner);
  expect((await put('first')).status).toBe(200);
  // At once, not within a second.
  expect(await recorded()).toEqual(['CreateBucket']);

  const write = table.write.bind(table);
  table.write = (changes, ...more) =>
    changes.some(({ key }) => key.pk.startsWith('audit')) ? Promise.reject(new TableBusy()) : write(changes, ...more);
  expect(await put('second')).toMatchObject({ status: 503, code: 'ServiceUnavailable' });
  // What changes nothing there, and data, need no record.
  expect((await service.send({ path: '/first' }, owner)).status).toBe(200);
  expect((await service.send({ method: 'PUT', path: '/first/key', body: 'x' }, owner)).status).toBe(200);
  expect((await service.send({ method: 'DELETE', path: '/none' }, owner)).status).toBe(404);

  table.write = write;
  expect((await put('third')).status).toBe(200);
  expect(await recorded()).toEqual(['CreateBucket', 'CreateBucket', 'DeleteBucket']);
});
