import type { FeedRecord } from '../../shared/ports/key-value-table.ts';

/** Something that follows the change feed. Records may come again, in other batches; it must not matter. */
export type Follower = (records: readonly FeedRecord[]) => Promise<void>;

/** The first record of a batch that a follower failed at. What stands before it was followed by everybody. */
export interface Unfollowed {
  readonly position: string;
  readonly error: unknown;
}

/**
 * Hands a batch of one shard to its followers, one follower after the other. Should one fail, the batch is gone through again
 * record by record, so that one bad record holds up what comes behind it, and nothing that stands before.
 */
export async function followChanges(
  followers: readonly Follower[],
  records: readonly FeedRecord[],
): Promise<Unfollowed | undefined> {
  if (records.length === 0) return undefined;
  try {
    await inTurn(followers, records);
    return undefined;
  } catch (error) {
    if (records.length === 1) return { position: records[0]!.position, error };
  }
  for (const record of records) {
    try {
      await inTurn(followers, [record]);
    } catch (error) {
      return { position: record.position, error };
    }
  }
  return undefined;
}

async function inTurn(followers: readonly Follower[], records: readonly FeedRecord[]): Promise<void> {
  for (const follow of followers) await follow(records);
}
