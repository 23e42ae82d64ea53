import { expect, it } from 'vitest';
import { BlobsBusy } from '../../../shared/ports/blob-store.ts';
import { TableBusy } from '../../../shared/ports/key-value-table.ts';
import { defineOperation } from '../../../shared/protocol/operation.ts';
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
