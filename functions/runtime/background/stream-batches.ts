import { feedRecord, type StreamRecord } from '../../../shared/adapters/cloud/feed-records.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { followChanges, type Follower } from '../../feed/follow-changes.ts';

/**
 * A batch of a DynamoDB stream as a function with a tumbling window receives it. Only such a function is told the shard, and
 * positions rise within a shard alone. https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-windows.html
 */
export interface StreamBatch {
  /** None, when a window ends in which nothing came. */
  readonly Records?: readonly StreamRecord[];
  readonly shardId?: string;
}

/** https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html */
export interface StreamAnswer {
  /** At most one: everything from this sequence number on comes again. */
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
  /** What a window carries along: nothing. */
  readonly state: object;
}

/** Follows one batch after the other. */
export function followBatches(
  followers: readonly Follower[],
  telemetry: Telemetry,
): (batch: StreamBatch) => Promise<StreamAnswer> {
  return async ({ Records = [], shardId }) => {
    if (shardId === undefined) throw new Error('the shard of a batch is not known: the event source has no window');
    const records = Records.map((record) => feedRecord(shardId, record));
    const failed = await followChanges(followers, records);
    if (failed === undefined) return { batchItemFailures: [], state: {} };
    const { position, error } = failed;
    telemetry.problem('following the change feed failed', error, { lane: shardId, position });
    return { batchItemFailures: [{ itemIdentifier: position }], state: {} };
  };
}
