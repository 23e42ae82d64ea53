import { describe, expect, it } from 'vitest';
import { followChanges } from '../../../../functions/compose/follow-changes.ts';
import type { FeedRecord } from '../../../../shared/ports/key-value-table.ts';

const records: readonly FeedRecord[] = ['1', '2', '3'].map((position) => ({
  ...{ shardId: 'shard-1', position, at: 0, key: { pk: 'head/b', sk: position } },
  ...{ old: undefined, new: { i: position } },
}));
const positions = (batch: readonly FeedRecord[]): string => batch.map(({ position }) => position).join();

describe('a batch of changes', () => {
  it('is handed to every follower at once, one after the other', async () => {
    const seen: string[] = [];
    const followers = ['a', 'b'].map(
      (name) => async (batch: readonly FeedRecord[]) => void seen.push(`${name} ${positions(batch)}`),
    );
    expect(await followChanges(followers, records)).toBeUndefined();
    expect(seen).toEqual(['a 1,2,3', 'b 1,2,3']);
  });

  it('is gone through record by record when a follower fails, up to the bad one', async () => {
    const seen: string[] = [];
    const error = new Error('bad');
    const follower = async (batch: readonly FeedRecord[]): Promise<void> => {
      if (batch.some(({ position }) => position === '2')) throw error;
      seen.push(positions(batch));
    };
    expect(await followChanges([follower], records)).toEqual({ position: '2', error });
    expect(seen).toEqual(['1']);
  });

  it('is done when what failed at first works one by one', async () => {
    let calls = 0;
    const follower = async (): Promise<void> => {
      calls += 1;
      if (calls === 1) throw new Error('busy');
    };
    expect(await followChanges([follower], records)).toBeUndefined();
    expect(calls).toBe(4);
  });

  it('of one record, or of none, is not tried twice', async () => {
    let calls = 0;
    const error = new Error('bad');
    const follower = async (): Promise<void> => {
      calls += 1;
      throw error;
    };
    expect(await followChanges([follower], records.slice(0, 1))).toEqual({ position: '1', error });
    expect(await followChanges([follower], [])).toBeUndefined();
    expect(calls).toBe(1);
  });
});
