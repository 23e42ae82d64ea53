import { feedRecord, type StreamRecord } from '../../../shared/adapters/cloud/dynamodb/feed-records.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { followChanges, type Follower } from '../../compose/follow-changes.ts';

/**
 * A batch of a DynamoDB stream as received by a function with a tumbling window. Only such a function learns the shard, and
 * positions are ordered within a shard only. https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-windows.html
 */
export interface StreamBatch {
  /** Empty at the end of a window without records. */
  readonly Records?: readonly StreamRecord[];
  readonly shardId?: string;
  /** The ARN of the stream. */
  readonly eventSourceARN?: string;
}

/** https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html */
export interface StreamAnswer {
  /** At most one: everything from this sequence number on is sent again. */
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
  /** The state of the window, unused. */
  readonly state: object;
}

/**
 * Passes batches to the followers, one after the other.
 * @param table the name of the followers' table
 */
export function followBatches(
  followers: readonly Follower[],
  { table, telemetry }: { readonly table: string; readonly telemetry: Telemetry },
): (batch: StreamBatch) => Promise<StreamAnswer> {
  return async ({ Records = [], shardId, eventSourceARN = '' }) => {
    if (shardId === undefined)
      throw new Error('the batch has no shard id: the event source mapping has no tumbling window');
    mustBeOf(table, eventSourceARN);
    const records = Records.map((record) => feedRecord(shardId, record));
    const failed = await followChanges(followers, records);
    if (failed === undefined) return { batchItemFailures: [], state: {} };
    const { position, error } = failed;
    telemetry.problem('following the change feed failed', error, { lane: shardId, position });
    return { batchItemFailures: [{ itemIdentifier: position }], state: {} };
  };
}

/**
 * Refuses records of another table. While a restored table replaces the original one, or the reverse, there are event source mappings
 * for both streams for some time, and dead letters for longer.
 * @throws Error if the stream is that of another table
 */
export function mustBeOf(table: string, streamArn: string): void {
  if (!streamArn.includes(`:table/${table}/stream/`)) throw new Error(`${streamArn} is not the stream of ${table}`);
}
