import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Template } from 'aws-cdk-lib/assertions';
import { resources } from '../infra/synthesis.ts';
import type { Place } from '../support/storage/administration.ts';

/** Does the work of a function. @throws Error as the function does */
export type Invocation = (event: object) => Promise<unknown>;

/**
 * As much of Lambda's API as invoking takes: https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html. It knows its callers by
 * their access keys, and lets `operator` invoke functions, as a policy of IAM would.
 */
export class LambdaApi {
  readonly #server: Server;
  readonly #functions: ReadonlyMap<string, Invocation>;

  private constructor(functions: ReadonlyMap<string, Invocation>) {
    this.#functions = functions;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  /** @param functions by the names that callers know them by */
  static async start(functions: ReadonlyMap<string, Invocation>): Promise<LambdaApi> {
    const api = new LambdaApi(functions);
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    return api;
  }

  /** With the function that operators ask, as its template names it. */
  static async ofAdministration(schedule: Template, invoke: Invocation): Promise<LambdaApi> {
    const named = resources(schedule, 'AWS::Lambda::Function').filter(([id]) => id.startsWith('AdministerFunction'));
    return LambdaApi.start(new Map(named.map(([, { Properties }]) => [String(Properties['FunctionName']), invoke])));
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** As an operator's shell would have it. */
  get place(): Place {
    return {
      args: ['--cloud', 'prod'],
      env: {
        AWS_ENDPOINT_URL_LAMBDA: this.endpoint,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'operator',
        AWS_SECRET_ACCESS_KEY: 'of-the-operator',
      },
    };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [, named] = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(request.url!) ?? [];
    const name = decodeURIComponent(named ?? '')
      .split(':')
      .at(-1)!;
    const [, caller, region] = /Credential=([^/]+)\/\d+\/([^/]+)\/lambda\//.exec(request.headers.authorization!) ?? [];
    const arn = `arn:aws:lambda:${region}:000000000000:function:${name}`;
    if (caller !== 'operator') {
      const message = `User: ${caller} is not authorized to perform: lambda:InvokeFunction on resource: ${arn}`;
      return refuse(response, 403, 'AccessDeniedException', message);
    }
    const invocation = this.#functions.get(name);
    if (invocation === undefined) {
      return refuse(response, 404, 'ResourceNotFoundException', `Function not found: ${arn}`);
    }
    try {
      const result = await invocation(JSON.parse(Buffer.concat(chunks).toString()) as object);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
    } catch (error) {
      const [errorMessage] = (error as Error).message.split('\n');
      response
        .writeHead(200, { 'content-type': 'application/json', 'x-amz-function-error': 'Unhandled' })
        .end(JSON.stringify({ errorType: 'Error', errorMessage, trace: [] }));
    }
  }
}

function refuse(response: ServerResponse, status: number, type: string, message: string): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type })
    .end(JSON.stringify({ Type: 'User', Message: message }));
}
