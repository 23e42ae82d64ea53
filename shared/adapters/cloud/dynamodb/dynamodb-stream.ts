import {
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type DynamoDBStreamsClientConfig,
} from '@aws-sdk/client-dynamodb-streams';
import type { FeedRecord } from '../../../ports/key-value-table.ts';
import type { StoredImage } from './attribute-values.ts';
import { feedRecord } from './feed-records.ts';

/** A range of records in one shard, both ends inclusive. */
export interface StreamRange {
  readonly streamArn: string;
  readonly shardId: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Reads a range of a DynamoDB stream again, page by page, for records that a function received before. A stream keeps
 * its records for 24 hours. Omitted SDK settings come from the environment.
 * @throws TrimmedDataAccessException if the first record is older
 */
export async function* readStreamRange(
  { streamArn, shardId, from, to }: StreamRange,
  settings: DynamoDBStreamsClientConfig = {},
): AsyncGenerator<readonly FeedRecord[]> {
  const client = new DynamoDBStreamsClient(settings);
  try {
    const begin = new GetShardIteratorCommand({
      StreamArn: streamArn,
      ShardId: shardId,
      ShardIteratorType: 'AT_SEQUENCE_NUMBER',
      SequenceNumber: from,
    });
    let iterator = (await client.send(begin)).ShardIterator;
    while (iterator !== undefined) {
      const page = await client.send(new GetRecordsCommand({ ShardIterator: iterator }));
      const all = (page.Records ?? []).map(({ dynamodb }) =>
        feedRecord(shardId, {
          dynamodb: {
            SequenceNumber: dynamodb!.SequenceNumber!,
            ...timeOf(dynamodb?.ApproximateCreationDateTime),
            Keys: dynamodb!.Keys as StoredImage,
            ...(dynamodb!.OldImage && { OldImage: dynamodb!.OldImage }),
            ...(dynamodb!.NewImage && { NewImage: dynamodb!.NewImage }),
          },
        }),
      );
      const wanted = all.filter(({ position }) => BigInt(position) <= BigInt(to));
      if (wanted.length > 0) yield wanted;
      if (all.some(({ position }) => BigInt(position) >= BigInt(to))) return;
      iterator = page.NextShardIterator;
    }
  } finally {
    client.destroy();
  }
}

/** Returns the time of a record in the format that functions receive. */
function timeOf(time: Date | undefined): { readonly ApproximateCreationDateTime?: number } {
  return time === undefined ? {} : { ApproximateCreationDateTime: time.getTime() / 1000 };
}
