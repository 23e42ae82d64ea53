import { describe, expect, it } from 'vitest';
import { feedRecord, type StreamRecord } from '../../../../../shared/adapters/cloud/dynamodb/feed-records.ts';

const Keys = { pk: { S: 'head/b' }, sk: { S: 'photo.jpg' } };
const before = { ...Keys, r: { S: 'x' }, s: { N: '5' }, e: { B: '/+8A' } };
const after = { ...Keys, r: { S: 'y' }, s: { N: '6' } };
const SequenceNumber = '4421584500000000017450439091';

/** Returns a record as a function receives it, including the unused properties. */
function event(dynamodb: object): StreamRecord {
  return {
    eventID: '1',
    eventName: 'MODIFY',
    eventSource: 'aws:dynamodb',
    dynamodb: {
      Keys,
      SequenceNumber,
      ApproximateCreationDateTime: 1_768_000_000,
      SizeBytes: 26,
      StreamViewType: 'NEW_AND_OLD_IMAGES',
      ...dynamodb,
    },
  } as StreamRecord;
}

describe('feedRecord', () => {
  const common = {
    shardId: 'shard-1',
    position: SequenceNumber,
    at: 1_768_000_000_000,
    key: { pk: 'head/b', sk: 'photo.jpg' },
  };
  const oldImage = { r: 'x', s: 5, e: new Uint8Array([255, 239, 0]) };

  it('describes a change', () => {
    expect(feedRecord('shard-1', event({ OldImage: before, NewImage: after }))).toEqual({
      ...common,
      old: oldImage,
      new: { r: 'y', s: 6 },
    });
  });

  it('tells of an insertion and of a removal', () => {
    expect(feedRecord('shard-1', event({ NewImage: after }))).toEqual({
      ...common,
      old: undefined,
      new: { r: 'y', s: 6 },
    });
    expect(feedRecord('shard-1', event({ OldImage: before }))).toEqual({ ...common, old: oldImage, new: undefined });
  });

  it('refuses a stream of another view', () => {
    expect(() => feedRecord('shard-1', event({}))).toThrow('no images');
  });

  it('refuses what is not a change', () => {
    expect(() => feedRecord('shard-1', {})).toThrow();
  });
});
