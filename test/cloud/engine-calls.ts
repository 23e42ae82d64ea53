import { createServer, request as send, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A proxy before the engines that writes down who asks them for what. Functions are told apart by the access key id that
 * they are given, and what they ask for is called as IAM calls it.
 */
export class EngineCalls {
  readonly #server: Server;
  readonly #target: URL;
  readonly #actions = new Map<string, Set<string>>();
  /** The last call of the table: the threads of the engine race where two of them meet. */
  #tableCall: Promise<unknown> = Promise.resolve();

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((request, response) => {
      void this.#forward(request).then(
        ({ status, headers, body }) => response.writeHead(status, headers).end(body),
        () => response.destroy(),
      );
    });
  }

  static async before(target: string): Promise<EngineCalls> {
    const proxy = new EngineCalls(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The IAM actions that each access key has used. */
  get actions(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#actions;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #forward(request: IncomingMessage): Promise<{ status: number; headers: string[]; body: Buffer }> {
    const body = await whole(request);
    const caller = /Credential=([^/]+)\//.exec(request.headers.authorization ?? '')?.[1] ?? 'nobody';
    const used = this.#actions.get(caller) ?? new Set();
    for (const action of actionsOf(request, body)) used.add(action);
    this.#actions.set(caller, used);

    const isOfTable = String(request.headers['x-amz-target']).startsWith('DynamoDB');
    if (!isOfTable) return this.#send(request, body);
    const call = this.#tableCall.then(() => this.#send(request, body));
    this.#tableCall = call.catch(() => undefined);
    return call;
  }

  async #send(request: IncomingMessage, body: Buffer): Promise<{ status: number; headers: string[]; body: Buffer }> {
    const { hostname, port } = this.#target;
    const forwarded = send({ hostname, port, method: request.method, path: request.url, headers: request.headers });
    const answered = new Promise<IncomingMessage>((resolve, reject) =>
      forwarded.on('response', resolve).on('error', reject),
    );
    forwarded.end(body);
    const answer = await answered;
    return { status: answer.statusCode!, headers: answer.rawHeaders, body: await whole(answer) };
  }
}

async function whole(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

interface Transaction {
  readonly TransactItems: readonly Record<string, unknown>[];
}

/** https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html, and of DynamoDB */
function actionsOf({ method, url, headers }: IncomingMessage, body: Buffer): string[] {
  const [service, call] = String(headers['x-amz-target'] ?? '').split('.');
  if (service === 'secretsmanager') return [`secretsmanager:${call}`];
  if (service?.startsWith('DynamoDB')) {
    if (!call!.startsWith('Transact')) return [`dynamodb:${call}`];
    const names = {
      Get: 'GetItem',
      Put: 'PutItem',
      Delete: 'DeleteItem',
      Update: 'UpdateItem',
      ConditionCheck: 'ConditionCheckItem',
    };
    const { TransactItems } = JSON.parse(body.toString()) as Transaction;
    return TransactItems.flatMap((item) => Object.keys(item)).map(
      (kind) => `dynamodb:${names[kind as keyof typeof names]}`,
    );
  }
  const { pathname, searchParams } = new URL(url!, 'http://engine');
  const isObject = pathname.replace(/^\/[^/]+\/?/, '') !== '';
  if (!isObject) return [method === 'POST' && searchParams.has('delete') ? 's3:DeleteObject' : 's3:ListBucket'];
  if (method === 'DELETE') return [searchParams.has('uploadId') ? 's3:AbortMultipartUpload' : 's3:DeleteObject'];
  return [method === 'GET' || method === 'HEAD' ? 's3:GetObject' : 's3:PutObject'];
}
