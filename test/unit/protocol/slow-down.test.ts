import { describe, expect, it } from 'vitest';
import { SetClock } from '../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';
import { person, PipelineInProcess } from '../../support/storage/pipeline-in-process.ts';

const owner = person('owner');
const versioned = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';

/** A service over a table that cannot check buckets within commits, as DynamoDB cannot; with a bucket that keeps versions. */
async function started() {
  const clock = new SetClock(Date.now());
  const table = new MemoryTable({ freeChecks: false });
  const service = new PipelineInProcess([owner], { table, clock });
  await service.send({ method: 'PUT', path: '/bucket' }, owner);
  await service.send({ method: 'PUT', path: '/bucket', query: 'versioning', body: versioned }, owner);
  const put = () => service.send({ method: 'PUT', path: '/bucket/key', body: 'x' }, owner);
  return { clock, table, service, put };
}

/** Returns the code and the cause of the only problem in the log. */
function told({ problems }: PipelineInProcess): unknown {
  const [[message, error]] = problems as [[string, Error]];
  return [message, (error.cause as Error).message];
}

describe('a SlowDown tells the operator its cause', () => {
  it('where the table is so slow that no commit may rely on what was read before', async () => {
    const { clock, table, service, put } = await started();
    table.afterRead = async () => void (clock.time += 1100);
    expect(await put()).toMatchObject({ status: 503, code: 'SlowDown' });
    expect(told(service)).toEqual([
      'SlowDown',
      'of 8 attempts 0 lost to other writers, and 8 took too long before their commit',
    ]);
  });

  it('where a conditional write is that slow, too: no other one was in its way', async () => {
    const { clock, table, service } = await started();
    table.afterRead = async () => void (clock.time += 1100);
    const headers = { 'if-none-match': '*' };
    const answer = await service.send({ method: 'PUT', path: '/bucket/key', headers, body: 'x' }, owner);
    expect(answer).toMatchObject({ status: 503, code: 'SlowDown' });
    expect(told(service)).toEqual([
      'SlowDown',
      'of 8 attempts 0 lost to other writers, and 8 took too long before their commit',
    ]);
  });

  it('and none while it is a little faster than that', async () => {
    const { clock, table, service, put } = await started();
    table.afterRead = async () => void (clock.time += 900);
    expect(await put()).toMatchObject({ status: 200 });
    expect(service.problems).toEqual([]);
  });

  it('where other writers win every attempt', async () => {
    const { table, service, put } = await started();
    table.write = async () => ({ outcome: 'conflict', failed: [] });
    expect(await put()).toMatchObject({ status: 503, code: 'SlowDown' });
    expect(told(service)).toEqual([
      'SlowDown',
      'of 8 attempts 8 lost to other writers, and 0 took too long before their commit',
    ]);
  });

  it('where a project makes many buckets at once, too', async () => {
    const { table, service } = await started();
    table.write = async () => ({ outcome: 'conflict', failed: [] });
    const answer = await service.send({ method: 'PUT', path: '/another' }, owner);
    expect(answer).toMatchObject({ status: 503, code: 'SlowDown' });
    expect(told(service)).toEqual([
      'SlowDown',
      'of 12 attempts 12 lost to other writers, and 0 took too long before their commit',
    ]);
  });
});
