import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDbEngine, type EngineAnswer } from '../support/cloud/dynamodb/engine.ts';
import { Refusal } from '../support/cloud/dynamodb/failures.ts';
import type { EngineCall, Engines, SentAnswer } from '../support/cloud/engines.ts';
import type { Random } from './random.ts';

/** The fates of a call of DynamoDB, with their weights. */
const tableFates = {
  ...{ answered: 1000, refused: 12, 'failed before': 3, 'failed after': 4 },
  ...{ 'lost before': 3, 'lost after': 5, late: 0.4 },
} as const;
/** The fates of a call of S3, with their weights. */
const blobFates = {
  ...{ answered: 1000, refused: 12, 'failed before': 4, 'failed after': 4 },
  ...{ 'lost before': 4, 'lost after': 4, 'cut off': 8 },
} as const;
type Fate = keyof typeof tableFates | keyof typeof blobFates;

/** The maximum time in milliseconds before a call takes effect, and again before it is answered. */
const usualDelay = 3;

/**
 * The engines that stand in for AWS, with the faults that AWS may add to any call: it is throttled, or conflicts with a transaction; its
 * answer is a server error, whether it was carried out or not, or is lost; it takes effect after its caller has timed out; a transaction
 * becomes visible item by item; the bytes of a blob end early.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html,
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling,
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation,
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
export class UnreliableAws {
  /** While it is, every call is answered. */
  isReliable = true;
  /** The number of calls that met each fate. */
  readonly fates: Partial<Record<Fate, number>> = {};
  readonly #engines: Engines;
  readonly #random: Random;
  readonly #patience: number;
  readonly #running = new Set<Promise<unknown>>();

  /** @param patience the milliseconds that a caller waits for DynamoDB */
  constructor(engines: Engines, random: Random, patience: number) {
    this.#engines = engines;
    this.#random = random;
    this.#patience = patience;
  }

  /** Answers a call. Rejects if its connection breaks instead. */
  answer(call: EngineCall): Promise<SentAnswer> {
    const answered = this.#meet(call);
    this.#running.add(answered);
    const done = (): void => void this.#running.delete(answered);
    answered.then(done, done);
    return answered;
  }

  /** Resolves once no call is in progress, not even one that its caller has given up. */
  async settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  async #meet(call: EngineCall): Promise<SentAnswer> {
    const fate = this.#fateOf(call);
    if (fate === 'late') await sleep(this.#patience * (1 + this.#random.next() / 2));
    await sleep(usualDelay * this.#random.next());
    if (fate === 'refused') return this.#refusal(call);
    if (fate === 'failed before') return failure(call);
    if (fate === 'lost before') throw new Error('the connection breaks');
    const { answer, end } = await this.#carryOut(call);
    await sleep(usualDelay * this.#random.next());
    end();
    if (fate === 'failed after') return failure(call);
    if (fate === 'lost after') throw new Error('the connection breaks');
    const { length } = answer.body;
    return fate === 'cut off' && length > 0 ? { ...answer, cutAt: this.#random.below(length) } : answer;
  }

  /** While a transaction is going on, plain reads see some of its items as they were. */
  async #carryOut(call: EngineCall): Promise<{ readonly answer: EngineAnswer; readonly end: () => void }> {
    const { dynamoDb } = this.#engines;
    if (operationOf(call) === 'TransactWriteItems')
      return dynamoDb.transact(call.body, () => this.#random.next() < 0.5);
    return { answer: await this.#engines.answer(call), end: () => undefined };
  }

  #fateOf(call: EngineCall): Fate {
    const isOther = call.headers['x-amz-target'] !== undefined && !isOfTable(call);
    if (this.isReliable || isOther) return 'answered';
    const fate = isOfTable(call) ? this.#random.weighted(tableFates) : this.#random.weighted(blobFates);
    this.fates[fate] = (this.fates[fate] ?? 0) + 1;
    return fate;
  }

  #refusal(call: EngineCall): EngineAnswer {
    if (!isOfTable(call)) return errorOfS3(503, 'SlowDown', 'Please reduce your request rate.');
    const operation = operationOf(call);
    if (/^Transact/.test(operation)) {
      const { TransactItems } = JSON.parse(call.body.toString()) as { TransactItems: readonly object[] };
      const at = this.#random.below(TransactItems.length);
      const Code = this.#random.oneOf(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);
      const CancellationReasons = TransactItems.map((_, index) => ({ Code: index === at ? Code : 'None' }));
      return refusal('TransactionCanceledException', { CancellationReasons });
    }
    const throttled = ['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'];
    const isWrite = operation === 'PutItem' || operation === 'DeleteItem';
    return refusal(this.#random.oneOf(isWrite ? [...throttled, 'TransactionConflictException'] : throttled));
  }
}

/** Returns the name of a call of DynamoDB. */
function operationOf({ headers }: EngineCall): string {
  return String(headers['x-amz-target']).split('.')[1] ?? '';
}

function isOfTable({ headers }: EngineCall): boolean {
  return DynamoDbEngine.isFor(headers['x-amz-target']);
}

/** A server error, which leaves open whether the call was carried out. */
function failure(call: EngineCall): EngineAnswer {
  if (!isOfTable(call)) return errorOfS3(500, 'InternalError', 'We encountered an internal error. Please try again.');
  return { ...refusal('InternalServerError'), status: 500 };
}

function refusal(type: string, fields: object = {}): EngineAnswer {
  return {
    status: 400,
    headers: ['Content-Type', 'application/x-amz-json-1.0'],
    body: Buffer.from(JSON.stringify(new Refusal(type, 'as AWS may', fields).body)),
  };
}

function errorOfS3(status: number, code: string, message: string): EngineAnswer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return { status, headers: ['Content-Type', 'application/xml'], body: Buffer.from(body) };
}
