import type { FeedRecord } from '../../ports/key-value-table.ts';
import { type StoredImage, unmarshalIfAny, unmarshalKey } from './attribute-values.ts';

/**
 * A record of a DynamoDB stream as a function receives it, from a stream of the view NEW_AND_OLD_IMAGES. Bytes come as
 * base64. https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */
export interface StreamRecord {
  readonly dynamodb?: {
    readonly SequenceNumber?: string;
    readonly Keys?: StoredImage;
    readonly OldImage?: StoredImage;
    readonly NewImage?: StoredImage;
  };
}

/** A record of the stream as the change feed tells it. @param lane the shard the record came by */
export function feedRecord(lane: string, { dynamodb }: StreamRecord): FeedRecord {
  if (dynamodb?.Keys === undefined || dynamodb.SequenceNumber === undefined) {
    throw new TypeError('a stream record without keys or sequence number');
  }
  const { SequenceNumber: position, Keys, OldImage, NewImage } = dynamodb;
  // An item always has its keys, so a change without images can only be a stream of the wrong view.
  if (OldImage === undefined && NewImage === undefined) throw new TypeError('the stream carries no images');
  return { lane, position, key: unmarshalKey(Keys), old: unmarshalIfAny(OldImage), new: unmarshalIfAny(NewImage) };
}
