import { expect, it } from 'vitest';
import { operations } from '../../../functions/operations.ts';
import { TableBusy } from '../../../shared/ports/key-value-table.ts';
import { defineOperation } from '../../../shared/protocol/operation.ts';
import { person, PipelineInProcess } from '../../support/pipeline-in-process.ts';

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

it('tells policies the parameters of the listings of keys, and of nothing else', () => {
  const listings = [...operations.values()].filter(({ isListing }) => isListing === true).map(({ name }) => name);
  expect(listings.sort()).toEqual(['ListMultipartUploads', 'ListObjectVersions', 'ListObjects', 'ListObjectsV2']);
});
