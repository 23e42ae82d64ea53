import { readStreamRange } from '../../../shared/adapters/cloud/dynamodb/dynamodb-stream.ts';
import { backgroundHandler } from './background-handler.ts';
import { releaseDeps } from './release.ts';
import { mustBeOf } from './stream-batches.ts';

/** The used fields of a dead letter of the feed. https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html */
interface DeadLetter {
  readonly DDBStreamBatchInfo: {
    readonly streamArn: string;
    readonly shardId: string;
    readonly startSequenceNumber: string;
    readonly endSequenceNumber: string;
  };
}

/**
 * Replays the records of a dead letter of `release-content`. Invoke it by hand while the stream still has them. Repeating it does no
 * harm. `count-usage` retries records as long as the stream has them, so it needs no replay.
 */
export const handler = backgroundHandler('replay-changes', (deps) => {
  const { queue } = releaseDeps(deps);
  return async ({ DDBStreamBatchInfo: lost }: DeadLetter) => {
    const { streamArn, shardId, startSequenceNumber: from, endSequenceNumber: to } = lost;
    mustBeOf(deps.setting('STILLAGE_TABLE'), streamArn);
    let replayed = 0;
    for await (const records of readStreamRange({ streamArn, shardId, from, to })) {
      await queue.follow(records);
      replayed += records.length;
    }
    return { replayed };
  };
});
