import { expect, it } from 'vitest';
import { TableBusy } from '../../../shared/ports/key-value-table.ts';
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
