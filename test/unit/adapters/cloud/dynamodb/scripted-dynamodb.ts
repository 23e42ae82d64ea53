import { Readable } from 'node:stream';
import type { AttributeValue, DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';

/** The outcome of a request: a response, or the error that ends its connection. */
export type Answer = { readonly status: number; readonly body: object } | Error;

type Image = Record<string, AttributeValue>;

export const answered = (body: object = {}): Answer => ({ status: 200, body });
export const failed = (type: string, status = 400, more: object = {}): Answer => ({
  status,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'scripted', ...more },
});
export const conditionFailed = (Item?: Image): Answer =>
  failed('ConditionalCheckFailedException', 400, Item === undefined ? {} : { Item });
export const cancelled = (...reasons: (string | { Code: string; Item: Image })[]): Answer =>
  failed('TransactionCanceledException', 400, {
    CancellationReasons: reasons.map((reason) => (typeof reason === 'string' ? { Code: reason } : reason)),
  });
export const reset = (): Answer =>
  Object.assign(new Error('socket hang up'), { code: 'ECONNRESET', name: 'TimeoutError' });
export const timedOut = (): Answer =>
  Object.assign(new Error('timed out'), { code: 'ETIMEDOUT', name: 'TimeoutError' });
export const unreachable = (): Answer => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

export interface ScriptedRequest {
  /** `PutItem`, `TransactWriteItems` … */
  readonly operation: string;
  readonly body: Record<string, unknown>;
}

/** Stands in for DynamoDB: returns the scripted responses to the requests of the real SDK client, and records the requests. */
export class ScriptedDynamoDb {
  readonly requests: ScriptedRequest[] = [];
  readonly #answers: Answer[];

  constructor(...answers: Answer[]) {
    this.#answers = answers;
  }

  get operations(): string[] {
    return this.requests.map(({ operation }) => operation);
  }

  /** The settings of a client that talks to this script. */
  get client(): DynamoDBClientConfig {
    const requestHandler = {
      metadata: { handlerProtocol: 'http/1.1' },
      handle: async (request: { headers: Record<string, string>; body: string | Uint8Array }) => this.#answer(request),
      updateHttpClientConfig: () => undefined,
      httpHandlerConfigs: () => ({}),
    };
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    return {
      region: 'us-east-1',
      endpoint: 'http://scripted.invalid',
      credentials,
      requestHandler: requestHandler as never,
    };
  }

  #answer({ headers, body }: { headers: Record<string, string>; body: string | Uint8Array }) {
    const operation = headers['x-amz-target']?.split('.')[1] ?? '';
    this.requests.push({
      operation,
      body: JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as Record<string, unknown>,
    });
    const answer = this.#answers.shift();
    if (answer === undefined)
      throw new TypeError(`the script has no answer to request ${this.requests.length}, ${operation}`);
    if (answer instanceof Error) throw answer;
    const response = {
      statusCode: answer.status,
      headers: { 'content-type': 'application/x-amz-json-1.0' },
      body: Readable.from([Buffer.from(JSON.stringify(answer.body))]),
    };
    return { response };
  }
}
