import type { StreamRecord } from '../../shared/adapters/cloud/dynamodb/feed-records.ts';
import type { StreamAnswer, StreamBatch } from '../../functions/cloud/background/stream-batches.ts';

interface Shard {
  readonly ShardId: string;
}

interface Page {
  readonly Records: readonly StreamRecord[];
  readonly NextShardIterator: string;
}

/** In a page: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetRecords.html */
const mostRecords = 1000;

/** The properties of a mapping in a template that are implemented here. */
export interface MappingProperties {
  readonly BatchSize: number;
  readonly FilterCriteria: { readonly Filters: readonly { readonly Pattern: string }[] };
}

/**
 * Reads a stream as Lambda does: with the function's permissions, through its filter, and in batches of one shard, as with a tumbling
 * window (https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-windows.html). Records that the function reports as failed are
 * delivered again.
 */
export class StreamMapping {
  readonly #engine: string;
  readonly #streamArn: string;
  readonly #name: string;
  readonly #follow: (batch: StreamBatch) => Promise<StreamAnswer>;
  readonly #size: number;
  readonly #prefixes: readonly string[];
  /** The last sequence number that was read of each shard. */
  readonly #last = new Map<string, string>();
  /** How often shards were closed, and how much later it is in the stream by now. */
  #generation = 0;
  #later = 0;
  #knownShards: readonly string[] | undefined;
  /** Everything that was handed over, so that it can be handed over again. */
  readonly delivered: StreamBatch[] = [];

  constructor(
    { engine, streamArn }: { engine: string; streamArn: string },
    name: string,
    follow: (batch: StreamBatch) => Promise<StreamAnswer>,
    { BatchSize, FilterCriteria }: MappingProperties,
  ) {
    this.#engine = engine;
    this.#streamArn = streamArn;
    this.#name = name;
    this.#follow = follow;
    this.#size = BatchSize;
    const { dynamodb } = JSON.parse(FilterCriteria.Filters[0]!.Pattern) as {
      dynamodb: { Keys: { pk: { S: { prefix: string }[] } } };
    };
    this.#prefixes = dynamodb.Keys.pk.S.map(({ prefix }) => prefix);
  }

  /**
   * Delivers the new records.
   * @returns their number
   */
  async deliver(): Promise<number> {
    let count = 0;
    for (const ShardId of await this.#shards()) {
      const records = (await this.#read(ShardId)).filter(({ dynamodb }) =>
        this.#prefixes.some((prefix) => dynamodb!.Keys!['pk']!.S!.startsWith(prefix)),
      );
      for (let at = 0; at < records.length; at += this.#size) {
        await this.again({ Records: records.slice(at, at + this.#size), shardId: this.#ownName(ShardId) });
      }
      count += records.length;
    }
    return count;
  }

  /**
   * Closes every shard: later records are in a child with another name, and their times are ahead by `later`. DynamoDB does so about every
   * four hours: https://github.com/opensearch-project/data-prepper/issues/5208
   */
  rotate(later: number): void {
    this.#generation += 1;
    this.#later += later;
  }

  /**
   * Discards the new records, as Lambda does after too many failures.
   * @returns the dead letter; undefined: there were none
   */
  async giveUp(): Promise<object | undefined> {
    for (const ShardId of await this.#shards()) {
      const numbers = (await this.#read(ShardId)).map(({ dynamodb }) => dynamodb!.SequenceNumber);
      if (numbers.length === 0) continue;
      const [startSequenceNumber, endSequenceNumber] = [numbers[0], numbers.at(-1)];
      const place = { shardId: ShardId, streamArn: this.#streamArn };
      return { DDBStreamBatchInfo: { ...place, startSequenceNumber, endSequenceNumber } };
    }
    return undefined;
  }

  /** Hands a batch over until the function is done with all of it. */
  async again(again: StreamBatch): Promise<void> {
    const batch = { ...again, eventSourceARN: this.#streamArn };
    this.delivered.push(batch);
    let cause: unknown;
    for (let rest = batch.Records!, attempt = 0; rest.length > 0; attempt += 1) {
      if (attempt === 5) throw new Error(`${this.#name} does not get on`, { cause });
      const answer = await this.#follow({ ...batch, Records: rest }).catch((error: unknown) => void (cause = error));
      if (answer === undefined) continue;
      const failed = answer.batchItemFailures[0]?.itemIdentifier;
      if (failed === undefined) return;
      rest = rest.slice(rest.findIndex(({ dynamodb }) => dynamodb!.SequenceNumber === failed));
    }
  }

  /** Each time that it is closed, a shard is replaced by one of another name. */
  #ownName(shard: string): string {
    return `${shard}-${this.#generation}-${this.#streamArn.split('/').at(-1)}`;
  }

  /** The engine's stay as they are. */
  async #shards(): Promise<readonly string[]> {
    if (this.#knownShards) return this.#knownShards;
    const { StreamDescription } = await this.#call<{ StreamDescription: { Shards: Shard[] } }>('DescribeStream', {
      StreamArn: this.#streamArn,
    });
    return (this.#knownShards = StreamDescription.Shards.map(({ ShardId }) => ShardId));
  }

  async #read(ShardId: string): Promise<readonly StreamRecord[]> {
    let iterator = await this.#iterator(ShardId);
    const all: StreamRecord[] = [];
    for (;;) {
      const page: Page = await this.#call<Page>('GetRecords', { ShardIterator: iterator });
      iterator = page.NextShardIterator;
      const last = page.Records.at(-1)?.dynamodb!.SequenceNumber;
      if (last === undefined) return all;
      this.#last.set(ShardId, last);
      all.push(...page.Records.map((record) => laterBy(record, this.#later)));
      if (page.Records.length < mostRecords) return all;
    }
  }

  async #iterator(ShardId: string): Promise<string> {
    const last = this.#last.get(ShardId);
    const place =
      last === undefined
        ? { ShardIteratorType: 'TRIM_HORIZON' }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: last };
    const from = { StreamArn: this.#streamArn, ShardId, ...place };
    return (await this.#call<{ ShardIterator: string }>('GetShardIterator', from)).ShardIterator;
  }

  /** As it is on the wire, so that bytes come as a function gets them. */
  async #call<Answer>(name: string, input: object): Promise<Answer> {
    const response = await fetch(this.#engine, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDBStreams_20120810.${name}`,
        authorization: `AWS4-HMAC-SHA256 Credential=${this.#name}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0`,
      },
      body: JSON.stringify(input),
    });
    if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
    return (await response.json()) as Answer;
  }
}

function laterBy({ dynamodb, ...record }: StreamRecord, milliseconds: number): StreamRecord {
  const ApproximateCreationDateTime = dynamodb!.ApproximateCreationDateTime! + milliseconds / 1000;
  return { ...record, dynamodb: { ...dynamodb, ApproximateCreationDateTime } };
}
