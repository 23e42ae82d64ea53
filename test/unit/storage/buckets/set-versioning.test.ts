import { describe, expect, it } from 'vitest';
import { Buckets } from '../../../../shared/storage/buckets/buckets.ts';
import type { NewVersion } from '../../../../shared/storage/version-changes/new-version.ts';
import { noObjectAttributes } from '../../../../shared/storage/versions/object-attributes.ts';
import { Objects } from '../../../../shared/storage/objects/objects.ts';
import { asService, byOperator } from '../../../../shared/storage/version-changes/service-authorisation.ts';
import type { Change, Condition, WriteOptions, WriteOutcome } from '../../../../shared/ports/key-value-table.ts';
import { CountedBytes } from '../../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';
import { VirtualTime } from '../../../support/runs/virtual-time.ts';

const key = 'key';
const anObject: NewVersion = {
  ...{ marker: false, size: 0, md5: new Uint8Array(16), content: undefined, owner: 'project', contentType: undefined },
  ...{ checksum: undefined, encryption: undefined, objectAttributes: noObjectAttributes },
};

/** How long a write of shared/adapters/cloud/dynamodb/dynamodb-table.ts may take of its own accord: its patience, its last pause, its last call. */
const longestWrite = 4000 + 800 + 2000;

/** A table that is throttled, as DynamoDB may be, until the last moment at which its adapter still tries to write to a key. */
class ThrottledTable extends MemoryTable {
  readonly #time: VirtualTime;
  isThrottled = false;

  constructor(time: VirtualTime) {
    super({ freeChecks: false });
    this.#time = time;
  }

  override async write(
    changes: readonly Change[],
    conditions?: readonly Condition[],
    { within = Infinity }: WriteOptions = {},
  ): Promise<WriteOutcome> {
    const isOfKey = changes.some(({ key: { pk } }) => pk.startsWith('head/'));
    if (this.isThrottled && isOfKey) await this.#time.sleep(Math.min(within, longestWrite));
    return super.write(changes, conditions);
  }
}

async function world() {
  const time = new VirtualTime();
  const table = new ThrottledTable(time);
  const deps = { table, clock: time, randomness: new CountedBytes() };
  const buckets = new Buckets(deps);
  const objects = new Objects({ ...deps, buckets, recorder: undefined });
  await buckets.create(byOperator, 'bucket', 'project', 10);
  const present = () => buckets.load('bucket');
  const put = async () => objects.put(asService(await present(), key), anObject);
  const remove = async () =>
    objects.remove({ by: 'request', authorisation: asService(await present(), key), owner: 'project' });
  const setVersioning = async (state: 'on' | 'suspended') => buckets.setVersioning(asService(await present()), state);
  const find = async (versionId?: string) => objects.find(await present(), key, versionId);
  return { time, table, put, remove, setVersioning, find };
}

describe('a change of the versioning state, where the commits of others do not check it', () => {
  it.each(['put', 'remove'] as const)(
    'is acknowledged after every %s that began under the former state, however long the table throttles it',
    async (request) => {
      const { time, table, setVersioning, find, ...requests } = await world();
      await time.pass(requests.put());
      time.skip(10);
      table.isThrottled = true;
      const late: Promise<unknown> = requests[request]();
      await time.pass(setVersioning('on'));
      // The client keeps this version from now on: a write after the acknowledgement makes it a noncurrent one.
      const kept = await find();
      await time.pass(late);
      expect((await find('null'))?.instance).toBe(kept?.instance);
    },
  );
});
