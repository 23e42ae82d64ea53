import type { FeedRecord } from '../../ports/key-value-table.ts';
import { type StoredImage, unmarshalIfAny, unmarshalKey } from './attribute-values.ts';

/**
 * A record of a DynamoDB stream as a function receives it, from a stream of the view NEW_AND_OLD_IMAGES. Bytes come as
 * base64. https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */
export interface StreamRecord {
  readonly dynamodb?: {
    readonly SequenceNumber?: string;
    /** Seconds since the epoch. */
    readonly ApproximateCreationDateTime?: number;
    readonly Keys?: StoredImage;
    readonly OldImage?: StoredImage;
    readonly NewImage?: StoredImage;
  };
}

/** A record of the stream as the change feed tells it. @param shardId of the shard the record came from */
export function feedRecord(shardId: string, { dynamodb }: StreamRecord): FeedRecord {
  const { Keys, SequenceNumber: position, ApproximateCreationDateTime: time, OldImage, NewImage } = dynamodb ?? {};
  if (Keys === undefined || position === undefined) {
    throw new TypeError('a stream record without keys or sequence number');
  }
  // An item always has its keys, so a change without images can only be a stream of the wrong view.
  if (OldImage === undefined && NewImage === undefined) throw new TypeError('the stream carries no images');
  const images = { old: unmarshalIfAny(OldImage), new: unmarshalIfAny(NewImage) };
  // DynamoDB does not promise the time.
  const at = time === undefined ? Date.now() : Math.round(time * 1000);
  return { shardId, position, at, key: unmarshalKey(Keys), ...images };
}
