import { asService, byOperator } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { Buckets } from '../../../../shared/storage/buckets/buckets.ts';
import { partition } from '../../../../shared/storage/table/keys/keys.ts';
import type { Change, WriteOutcome } from '../../../../shared/ports/key-value-table.ts';
import { CountedBytes, SetClock } from '../../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';

/** A table that loses the answers to some writes that it applied, and does not apply others. */
class ForgetfulTable extends MemoryTable {
  loses: (changes: readonly Change[]) => boolean = () => false;
  misses: (changes: readonly Change[]) => boolean = () => false;

  override async write(...request: Parameters<MemoryTable['write']>): Promise<WriteOutcome> {
    if (this.misses(request[0])) return { outcome: 'unknown' };
    const outcome = await super.write(...request);
    return this.loses(request[0]) ? { outcome: 'unknown' } : outcome;
  }
}

let table: ForgetfulTable;
let buckets: Buckets;

beforeEach(async () => {
  table = new ForgetfulTable();
  buckets = new Buckets({ table, clock: new SetClock(), randomness: new CountedBytes() });
  await buckets.create(byOperator, 'bucket', 'project', 1);
});

const current = async (from = buckets): Promise<unknown> => from.documents.of(await from.load('bucket'), 'cors');

describe('a document of a bucket', () => {
  it('is what was set last, and nothing once it was taken away', async () => {
    expect(await current()).toBeUndefined();
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules: ['one'] });
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules: ['two'] });
    expect(await current()).toEqual({ rules: ['two'] });
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', undefined);
    expect(await current()).toBeUndefined();
  });

  it('is refused if no item can hold it, and what was set stays', async () => {
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules: ['one'] });
    const rules = Array.from({ length: 1000 }, () => 'x'.repeat(420));
    await expect(
      buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules }),
    ).rejects.toMatchObject({
      code: 'MaxMessageLengthExceeded',
    });
    expect(await current()).toEqual({ rules: ['one'] });
    const many = rules.map((rule) => rule.slice(0, 400));
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules: many });
    expect(await current()).toEqual({ rules: many });
  });

  it('is not set if it may not be there', async () => {
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules: ['one'] });
    table.misses = (changes) => changes.some(({ key }) => key.pk.startsWith('doc/'));
    const set = buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules: ['two'] });
    await expect(set).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    expect(await current()).toEqual({ rules: ['one'] });
  });

  it('leaves none of its revisions behind', async () => {
    for (const rule of ['one', 'two', 'three'])
      await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules: [rule] });
    const { id } = await buckets.load('bucket');
    expect(table.keysOf(partition.documents(id))).toHaveLength(1);
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', undefined);
    expect(table.keysOf(partition.documents(id))).toHaveLength(0);
  });

  it('is found by who read the bucket before it was replaced', async () => {
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules: ['one'] });
    const elsewhere = new Buckets({ table, clock: new SetClock(), randomness: new CountedBytes() });
    const bucket = await elsewhere.load('bucket');
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules: ['two'] });
    expect(await elsewhere.documents.of(bucket, 'cors')).toEqual({ rules: ['two'] });
    const before = await elsewhere.load('bucket');
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', undefined);
    const third = new Buckets({ table, clock: new SetClock(), randomness: new CountedBytes() });
    expect(await third.documents.of(before, 'cors')).toBeUndefined();
  });

  it('is read once, however often it is asked for', async () => {
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules: ['one'] });
    const bucket = await buckets.load('bucket');
    await buckets.documents.of(bucket, 'cors');
    table.calls.get = 0;
    for (let turn = 0; turn < 10; turn += 1) await buckets.documents.of(bucket, 'cors');
    expect(table.calls.get).toBe(0);
  });

  it('stays when the answer to its own write is lost', async () => {
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules: ['one'] });
    let lost = 0;
    table.loses = ([change]) => change!.key.pk.startsWith('bucket/') && ++lost === 1;
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules: ['two'] });
    expect(await current()).toEqual({ rules: ['two'] });
    const { id } = await buckets.load('bucket');
    expect(table.keysOf(partition.documents(id))).toHaveLength(1);
  });

  it('is gone when the answer to its removal is lost', async () => {
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', { rules: ['one'] });
    let lost = 0;
    table.loses = ([change]) => change!.key.pk.startsWith('bucket/') && ++lost === 1;
    await buckets.documents.set(asService(await buckets.load('bucket')), 'cors', undefined);
    expect(await current()).toBeUndefined();
  });
});
