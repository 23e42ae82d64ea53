import { feedRecord, type StreamRecord } from '../../../../shared/adapters/cloud/feed-records.ts';
import type { Telemetry } from '../../../../shared/ports/telemetry.ts';
import { followChanges, type Follower } from '../../../feed/follow-changes.ts';

/**
 * A batch of a DynamoDB stream as a function with a tumbling window receives it. Only such a function is told the shard, and
 * positions rise within a shard alone. https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-windows.html
 */
export interface StreamBatch {
  /** None, when a window ends in which nothing came. */
  readonly Records?: readonly StreamRecord[];
  readonly shardId?: string;
  /** The ARN of the stream. */
  readonly eventSourceARN?: string;
}

/** https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html */
export interface StreamAnswer {
  /** At most one: everything from this sequence number on comes again. */
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
  /** What a window carries along: nothing. */
  readonly state: object;
}

/**
 * Follows one batch after the other.
 * @param table the name of the one that the followers work on
 */
export function followBatches(
  followers: readonly Follower[],
  { table, telemetry }: { readonly table: string; readonly telemetry: Telemetry },
): (batch: StreamBatch) => Promise<StreamAnswer> {
  return async ({ Records = [], shardId, eventSourceARN = '' }) => {
    if (shardId === undefined) throw new Error('the shard of a batch is not known: the event source has no window');
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
 * What happened in one table did not happen in another: while a restored table takes the place of the former one, or gives it back,
 * mappings of both streams are there for some time, and dead letters for longer.
 * @throws Error if the stream is that of another table
 */
export function mustBeOf(table: string, streamArn: string): void {
  if (!streamArn.includes(`:table/${table}/stream/`)) throw new Error(`${streamArn} is not the stream of ${table}`);
}
