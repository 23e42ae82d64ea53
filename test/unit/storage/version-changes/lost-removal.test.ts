import { beforeEach, describe, expect, it } from 'vitest';
import { Buckets } from '../../../../shared/storage/buckets/buckets.ts';
import type { NewVersion } from '../../../../shared/storage/version-changes/new-version.ts';
import { noObjectAttributes } from '../../../../shared/storage/versions/object-attributes.ts';
import { Objects } from '../../../../shared/storage/objects/objects.ts';
import type { ObjectAuthorisation } from '../../../../shared/storage/version-changes/object-authorisation.ts';
import { asService, byOperator } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import type { Change, Condition, WriteOutcome } from '../../../../shared/ports/key-value-table.ts';
import { CountedBytes, SetClock } from '../../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';

const anObject: NewVersion = {
  ...{ marker: false, size: 0, md5: new Uint8Array(16), content: undefined, owner: 'project', contentType: undefined },
  ...{ checksum: undefined, encryption: undefined, objectAttributes: noObjectAttributes },
};

/** A table that loses the answer to the next write of a version, whether or not it was applied, and calls `meanwhile` before it reports that. */
class LossyTable extends MemoryTable {
  lose: { readonly isCarriedOut: boolean; readonly meanwhile: () => Promise<unknown> } | undefined;

  override async write(changes: readonly Change[], conditions?: readonly Condition[]): Promise<WriteOutcome> {
    const { lose } = this;
    if (lose === undefined || !changes.some(({ key: { pk } }) => pk.startsWith('head/'))) {
      return super.write(changes, conditions);
    }
    this.lose = undefined;
    if (lose.isCarriedOut) await super.write(changes, conditions);
    await lose.meanwhile();
    return { outcome: 'unknown' };
  }
}

let table: LossyTable;
let objects: Objects;
let object: ObjectAuthorisation;

beforeEach(async () => {
  table = new LossyTable({ freeChecks: false });
  const deps = { table, clock: new SetClock(), randomness: new CountedBytes() };
  const buckets = new Buckets(deps);
  objects = new Objects({ ...deps, buckets, recorder: undefined });
  await buckets.create(byOperator, 'bucket', 'project', 10);
  object = asService(await buckets.load('bucket'), 'key');
});

const put = (): Promise<{ readonly instance: string }> => objects.put(object, anObject);
const removeNull = () =>
  objects.remove({ by: 'request', authorisation: asService(object.bucket, 'key', 'null'), owner: 'project' });
const current = async () => (await objects.find(object.bucket, 'key'))?.instance;

describe('the removal of the null version, whose answer was lost', () => {
  it.each([true, false])('spares the one that has replaced it (carried out: %s)', async (isCarriedOut) => {
    await put();
    let replacement: string | undefined;
    table.lose = { isCarriedOut, meanwhile: async () => (replacement = (await put()).instance) };
    await expect(removeNull()).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    expect(await current()).toBe(replacement);
  });

  it.each([true, false])('is finished where nothing has replaced it (carried out: %s)', async (isCarriedOut) => {
    const { instance } = await put();
    table.lose = { isCarriedOut, meanwhile: async () => undefined };
    expect(await removeNull()).toMatchObject({ version: { instance } });
    expect(await current()).toBeUndefined();
  });
});
