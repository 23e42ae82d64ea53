import { Agent, createServer, request as send, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { DynamoDbEngine, type EngineAnswer } from './dynamodb/engine.ts';
import { startMoto } from './moto.ts';

/** A call of a service of AWS, all of it. */
export interface EngineCall {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** An answer, of which the caller may get only a part. */
export interface SentAnswer extends EngineAnswer {
  /** The bytes of the body after which the connection breaks. Undefined: it does not. */
  readonly cutAt?: number;
}

/** The stand-ins for AWS: an engine in this process for DynamoDB and its streams, moto for S3 and the other services. */
export interface Engines {
  /** Their HTTP endpoint. */
  readonly endpoint: string;
  readonly dynamoDb: DynamoDbEngine;
  /** Answers a call as at the endpoint, without a connection to it. */
  answer(call: EngineCall): Promise<EngineAnswer>;
  stop(): Promise<void>;
}

/** Starts them on free ports. Returns undefined if moto is not installed. */
export async function startEngines(): Promise<Engines | undefined> {
  const moto = await startMoto();
  if (moto === undefined) return undefined;
  const dynamoDb = new DynamoDbEngine();
  const passOn = passTo(new URL(moto.endpoint));
  const answer = async (call: EngineCall): Promise<EngineAnswer> => {
    const target = call.headers['x-amz-target'];
    return DynamoDbEngine.isFor(target) ? dynamoDb.answer(target, call.body) : passOn(call);
  };
  const front = await listen(answer);
  return {
    endpoint: front.endpoint,
    dynamoDb,
    answer,
    stop: async () => {
      await front.stop();
      await moto.stop();
    },
  };
}

/** An endpoint that answers calls of AWS's services. */
export interface Door {
  readonly endpoint: string;
  /** Refuses new connections. Resolves once every caller has closed its connections, and all complete calls were given to `answer`. */
  deserted(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Listens for calls of AWS's services. They may leave connections idle for as long as they want to.
 * @param answer rejects if the caller is to get no answer but the end of its connection
 */
export async function listen(answer: (call: EngineCall) => Promise<SentAnswer>): Promise<Door> {
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const answered = async (): Promise<SentAnswer> =>
      answer({ method: request.method!, url: request.url!, headers: request.headers, body: await buffer(request) });
    answered().then(
      ({ status, headers, body, cutAt }) => {
        response.writeHead(status, [...headers]);
        if (cutAt === undefined) response.end(body);
        else response.write(body.subarray(0, cutAt), () => response.destroy());
      },
      () => response.destroy(),
    );
  });
  const closed = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deserted: closed,
    stop: async () => {
      server.closeAllConnections();
      await closed();
    },
  };
}

function passTo({ hostname, port }: URL): (call: EngineCall) => Promise<EngineAnswer> {
  const agent = new Agent({ keepAlive: true });
  return async ({ method, url, headers, body }) => {
    const forwarded = send({ hostname, port, agent, method, path: url, headers });
    const answered = new Promise<IncomingMessage>((resolve, reject) =>
      forwarded.on('response', resolve).on('error', reject),
    );
    forwarded.end(body);
    const answer = await answered;
    return { status: answer.statusCode!, headers: answer.rawHeaders, body: await buffer(answer) };
  };
}
