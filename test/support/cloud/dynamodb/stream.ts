import { randomUUID } from 'node:crypto';
import { allowOnly, invalid, Refusal } from './failures.ts';
import { isSameItem, measured, type StoredItem } from './values.ts';

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_Record.html */
interface StreamRecord {
  readonly eventID: string;
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  readonly eventVersion: '1.1';
  readonly eventSource: 'aws:dynamodb';
  readonly awsRegion: string;
  readonly dynamodb: {
    /** In whole seconds. */
    readonly ApproximateCreationDateTime: number;
    readonly Keys: StoredItem;
    readonly NewImage?: StoredItem;
    readonly OldImage?: StoredItem;
    readonly SequenceNumber: string;
    readonly SizeBytes: number;
    readonly StreamViewType: 'NEW_AND_OLD_IMAGES';
  };
}

interface IteratorInput {
  readonly ShardId: string;
  readonly ShardIteratorType: string;
  readonly SequenceNumber?: string;
}

/** The number of records that are kept, more than any reader of a stream lags behind. DynamoDB keeps records for a day. */
const recordsKept = 20_000;
/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html */
const pageRecords = 1000;
/** The first of a shard: sequence numbers have 21 digits at least. */
const firstNumber = 10n ** 21n;

/** The stream of a table, in one shard, with both images of each change. */
export class Stream {
  readonly arn: string;
  readonly #shardId = `shardId-${String(Date.now()).padStart(20, '0')}-${randomUUID().slice(0, 8)}`;
  #records: StreamRecord[] = [];
  /** The number of records that were trimmed. */
  #forgotten = 0;

  constructor(tableArn: string) {
    this.arn = `${tableArn}/stream/${new Date().toISOString().slice(0, 23)}`;
  }

  /** Records a change, unless the images are equal: a write "that does not change any data" leaves no record. */
  add(Keys: StoredItem, OldImage: StoredItem | undefined, NewImage: StoredItem | undefined): void {
    if (OldImage === undefined && NewImage === undefined) return;
    if (OldImage && NewImage && isSameItem(OldImage, NewImage)) return;
    this.#records.push({
      eventID: randomUUID().replaceAll('-', ''),
      eventName: OldImage === undefined ? 'INSERT' : NewImage === undefined ? 'REMOVE' : 'MODIFY',
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: 'us-east-1',
      dynamodb: {
        ApproximateCreationDateTime: Math.floor(Date.now() / 1000),
        Keys,
        ...(NewImage && { NewImage }),
        ...(OldImage && { OldImage }),
        SequenceNumber: String(firstNumber + BigInt(this.#forgotten + this.#records.length)),
        SizeBytes: [Keys, NewImage, OldImage].reduce((sum, image) => sum + (image ? measured(image) : 0), 0),
        StreamViewType: 'NEW_AND_OLD_IMAGES',
      },
    });
    if (this.#records.length < 2 * recordsKept) return;
    this.#forgotten += recordsKept;
    this.#records = this.#records.slice(recordsKept);
  }

  describe(): object {
    const Shards = [{ ShardId: this.#shardId, SequenceNumberRange: { StartingSequenceNumber: String(firstNumber) } }];
    const StreamDescription = {
      StreamArn: this.arn,
      StreamStatus: 'ENABLED',
      StreamViewType: 'NEW_AND_OLD_IMAGES',
      Shards,
    };
    return { StreamDescription };
  }

  /** @returns an iterator, which is a place in the stream */
  iterator({ ShardId, ShardIteratorType, SequenceNumber }: IteratorInput): object {
    if (ShardId !== this.#shardId)
      throw new Refusal('ResourceNotFoundException', `Requested resource not found: Shard: ${ShardId}`);
    const end = this.#forgotten + this.#records.length;
    if (ShardIteratorType === 'TRIM_HORIZON') return this.#iteratorAt(this.#forgotten);
    if (ShardIteratorType === 'LATEST') return this.#iteratorAt(end);
    const at = Number(BigInt(SequenceNumber!) - firstNumber);
    if (at < this.#forgotten)
      throw new Refusal(
        'TrimmedDataAccessException',
        'The operation attempted to read past the oldest stream record in a shard.',
      );
    if (ShardIteratorType === 'AT_SEQUENCE_NUMBER') return this.#iteratorAt(at);
    if (ShardIteratorType === 'AFTER_SEQUENCE_NUMBER') return this.#iteratorAt(at + 1);
    throw invalid(`1 validation error detected: the shard iterator type ${ShardIteratorType}`);
  }

  /** @returns a page of records, and the iterator of the next: there is always one, as the shard is open */
  records(at: number, limit = pageRecords): object {
    if (at < this.#forgotten)
      throw new Refusal(
        'TrimmedDataAccessException',
        'The operation attempted to read past the oldest stream record in a shard.',
      );
    const from = at - this.#forgotten;
    const Records = this.#records.slice(from, from + Math.min(limit, pageRecords));
    const { ShardIterator: NextShardIterator } = this.#iteratorAt(at + Records.length);
    return { Records, NextShardIterator };
  }

  #iteratorAt(place: number): { ShardIterator: string } {
    return { ShardIterator: `${this.arn}|1|${Buffer.from(String(place)).toString('base64')}` };
  }
}

/** Answers the calls of the streams' own API. @param find returns the stream of this ARN */
export const streamCalls: Readonly<
  Record<string, (find: (arn: string) => Stream, input: Readonly<Record<string, unknown>>) => object>
> = {
  DescribeStream: (find, input) => {
    allowOnly(input, ['StreamArn']);
    return find(String(input['StreamArn'])).describe();
  },
  GetShardIterator: (find, input) => {
    allowOnly(input, ['StreamArn', 'ShardId', 'ShardIteratorType', 'SequenceNumber']);
    return find(String(input['StreamArn'])).iterator(input as unknown as IteratorInput);
  },
  GetRecords: (find, input) => {
    allowOnly(input, ['ShardIterator', 'Limit']);
    const [arn = '', , place = ''] = String(input['ShardIterator']).split('|');
    return find(arn).records(Number(Buffer.from(place, 'base64').toString()), input['Limit'] as number | undefined);
  },
};
