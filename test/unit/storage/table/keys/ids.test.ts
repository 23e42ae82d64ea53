import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bucketId,
  instanceId,
  isVersionId,
  nextSequence,
  sequenceOf,
  shardCount,
  sortableTime,
  timedId,
  timeOf,
} from '../../../../../shared/storage/table/keys/ids.ts';

const randomness = { bytes: (count: number) => Uint8Array.from({ length: count }, () => Math.random() * 256) };
const times = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2100, 0) });

describe('sequences', () => {
  it('follow the clock, and outrun it where it stands behind', () => {
    expect(nextSequence(10, undefined)).toEqual({ ms: 10, counter: 0 });
    expect(nextSequence(11, { ms: 10, counter: 7 })).toEqual({ ms: 11, counter: 0 });
    expect(nextSequence(10, { ms: 10, counter: 7 })).toEqual({ ms: 10, counter: 8 });
    expect(nextSequence(9, { ms: 10, counter: 7 })).toEqual({ ms: 10, counter: 8 });
    expect(nextSequence(10, { ms: 10, counter: 64 ** 3 - 1 })).toEqual({ ms: 11, counter: 0 });
  });

  it('survive being written into an instance id', () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 0, max: 64 ** 3 - 1 }), (ms, counter) => {
        expect(sequenceOf(instanceId({ ms, counter }, randomness))).toEqual({ ms, counter });
      }),
    );
  });

  it('order instance ids as they stand', () => {
    fc.assert(
      fc.property(times, fc.nat(100_000), times, fc.nat(100_000), (ms, counter, otherMs, otherCounter) => {
        fc.pre(ms !== otherMs || counter !== otherCounter);
        const one = instanceId({ ms, counter }, randomness);
        const other = instanceId({ ms: otherMs, counter: otherCounter }, randomness);
        expect(one < other).toBe(ms < otherMs || (ms === otherMs && counter < otherCounter));
      }),
    );
  });
});

describe('ids', () => {
  it('are version ids that no command line takes for an option', () => {
    const id = instanceId({ ms: Date.UTC(2026, 10), counter: 0 }, randomness);
    expect(isVersionId(id)).toBe(true);
    expect(id).toMatch(/^[A-Z]/);
    expect(timedId(Date.UTC(2026, 10), randomness)).toMatch(/^[A-Z].{27}$/);
  });

  it.each(['', 'null', 'x'.repeat(31), 'x'.repeat(33), `${'x'.repeat(31)}/`])('%j is no version id', (text) => {
    expect(isVersionId(text)).toBe(false);
  });

  it('keep a time', () => {
    fc.assert(fc.property(times, (ms) => timeOf(sortableTime(ms)) === ms));
  });

  it('of buckets say how many shards they have', () => {
    for (const shards of [1, 4, 16] as const) {
      const id = bucketId(shards, randomness);
      expect(id).toHaveLength(22);
      expect(shardCount(id)).toBe(shards);
    }
  });
});
