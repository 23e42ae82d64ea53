import { allowOnly, Refusal } from './failures.ts';
import { getItem, query, scan } from './reads.ts';
import { type Stream, streamCalls } from './stream.ts';
import { Table } from './table.ts';
import { deleteItem, putItem, Transactions } from './writes.ts';

type Input = Readonly<Record<string, unknown>>;

/** An HTTP response of the engine. */
export interface EngineAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** The calls that concern the items of one table. */
const itemCalls = { GetItem: getItem, Query: query, Scan: scan, PutItem: putItem, DeleteItem: deleteItem } as const;

/**
 * The parts of DynamoDB and its streams that the service uses, in memory, according to the documentation: each call is atomic, is answered
 * as on the wire, and is refused if it uses an unknown parameter. Whatever DynamoDB refuses (sizes, keys, expressions) is refused as well:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations.html
 */
export class DynamoDbEngine {
  readonly #tables = new Map<string, Table>();
  readonly #transactions = new Transactions((name) => this.#table(name));

  /**
   * Whether a call is one of DynamoDB or of its streams.
   * @param target the header `X-Amz-Target`
   */
  static isFor(target: unknown): target is string {
    return typeof target === 'string' && /^DynamoDB(?:Streams)?_20120810\./.test(target);
  }

  /** @param target the header `X-Amz-Target` @param body JSON */
  answer(target: string, body: Buffer): EngineAnswer {
    const [service, call = ''] = target.split('.');
    const input = JSON.parse(body.toString()) as Input;
    return answered(() =>
      service === 'DynamoDBStreams_20120810' ? this.#stream(call, input) : this.#call(call, input),
    );
  }

  /**
   * Carries out a transaction, of which plain reads see nothing yet of some items.
   * @param body of TransactWriteItems
   * @returns its answer, and a function that ends it: from then on, everybody sees all of it
   */
  transact(body: Buffer, hides: () => boolean): { readonly answer: EngineAnswer; readonly end: () => void } {
    const input = JSON.parse(body.toString()) as Parameters<Transactions['write']>[0];
    const answer = answered(() => this.#transactions.write(input, hides));
    return { answer, end: () => (answer.status === 200 ? this.#transactions.show(input) : undefined) };
  }

  #call(call: string, input: Input): object {
    if (call === 'TransactGetItems') return this.#transactions.get(input as never);
    if (call === 'TransactWriteItems') return this.#transactions.write(input as never);
    const name = String(input['TableName']);
    if (call in itemCalls) return itemCalls[call as keyof typeof itemCalls](this.#table(name), input as never);
    switch (call) {
      case 'CreateTable':
        return this.#create(name, input);
      case 'DescribeTable':
        return { Table: this.#table(name).description };
      case 'UpdateTable':
        allowOnly(input, ['TableName', 'StreamSpecification']);
        this.#table(name).enableStream();
        return { TableDescription: this.#table(name).description };
      case 'UpdateContinuousBackups':
        allowOnly(input, ['TableName', 'PointInTimeRecoverySpecification']);
        return this.#withBackups(name);
      case 'RestoreTableToPointInTime':
        return this.#restore(input);
      default:
        throw new Refusal('UnknownOperationException', call);
    }
  }

  #stream(call: string, input: Input): object {
    const answer = streamCalls[call];
    if (answer === undefined) throw new Refusal('UnknownOperationException', call);
    return answer((arn) => this.#streamOf(arn), input);
  }

  #create(name: string, input: Input): object {
    if (this.#tables.has(name)) throw new Refusal('ResourceInUseException', `Table already exists: ${name}`);
    const table = new Table(name);
    this.#tables.set(name, table);
    if (input['StreamSpecification'] !== undefined) table.enableStream();
    return { TableDescription: table.description };
  }

  /** Every table can be restored to its current state. */
  #withBackups(name: string): object {
    this.#table(name);
    return { ContinuousBackupsDescription: { ContinuousBackupsStatus: 'ENABLED' } };
  }

  /** A restored table has no stream. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery.Tutorial.html */
  #restore(input: Input): object {
    allowOnly(input, ['SourceTableName', 'TargetTableName', 'UseLatestRestorableTime']);
    const name = String(input['TargetTableName']);
    if (this.#tables.has(name)) throw new Refusal('TableAlreadyExistsException', `Table already exists: ${name}`);
    const table = this.#table(String(input['SourceTableName'])).restored(name);
    this.#tables.set(name, table);
    return { TableDescription: table.description };
  }

  /** Callers name a table or, where another account may have it, its ARN. */
  #table(name: string): Table {
    const table = this.#tables.get(name.replace(/^arn:aws:dynamodb:.*:table\//, ''));
    if (table === undefined)
      throw new Refusal('ResourceNotFoundException', `Requested resource not found: Table: ${name} not found`);
    return table;
  }

  #streamOf(arn: string): Stream {
    for (const { stream } of this.#tables.values()) if (stream?.arn === arn) return stream;
    throw new Refusal('ResourceNotFoundException', `Requested resource not found: Stream: ${arn} not found`);
  }
}

function answered(work: () => object): EngineAnswer {
  try {
    return answer(200, work());
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return answer(400, error.body);
  }
}

function answer(status: number, content: object): EngineAnswer {
  return {
    status,
    headers: ['Content-Type', 'application/x-amz-json-1.0'],
    body: Buffer.from(JSON.stringify(content)),
  };
}
