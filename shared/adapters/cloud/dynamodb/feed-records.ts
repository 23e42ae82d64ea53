import type { FeedRecord } from '../../../ports/key-value-table.ts';
import { type StoredImage, unmarshalIfAny, unmarshalKey } from './attribute-values.ts';

/**
 * A record of a DynamoDB stream as a function receives it. The stream's view type must be NEW_AND_OLD_IMAGES. Bytes are
 * base64. https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */
export interface StreamRecord {
  readonly dynamodb?: {
    readonly SequenceNumber?: string;
    /** In seconds since the epoch. */
    readonly ApproximateCreationDateTime?: number;
    readonly Keys?: StoredImage;
    readonly OldImage?: StoredImage;
    readonly NewImage?: StoredImage;
  };
}

/** Converts a stream record to a record of the change feed. @param shardId of the shard the record came from */
export function feedRecord(shardId: string, { dynamodb }: StreamRecord): FeedRecord {
  const { Keys, SequenceNumber: position, ApproximateCreationDateTime: time, OldImage, NewImage } = dynamodb ?? {};
  if (Keys === undefined || position === undefined) {
    throw new TypeError('a stream record lacks its keys or its sequence number');
  }
  // An item always has its keys, so a change without images means that the stream has the wrong view type.
  if (OldImage === undefined && NewImage === undefined)
    throw new TypeError('the stream has no images: its view type must be NEW_AND_OLD_IMAGES');
  const images = { old: unmarshalIfAny(OldImage), new: unmarshalIfAny(NewImage) };
  // DynamoDB does not guarantee the time.
  const at = time === undefined ? Date.now() : Math.round(time * 1000);
  return { shardId, position, at, key: unmarshalKey(Keys), ...images };
}
