import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deploymentKeys } from '../../functions/runtime/deployment-keys.ts';
import type { OperationBundle } from '../../infra/bundle.ts';
import { gatewayResponses } from '../../infra/gateway-responses.ts';
import { Accounts } from '../../shared/access/accounts.ts';
import { DynamoDbTable } from '../../shared/adapters/cloud/dynamodb-table.ts';
import { AesSecrets } from '../../shared/adapters/system/aes-secrets.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { resolveTarget } from '../../shared/http/address.ts';
import { Fields } from '../../shared/http/message.ts';
import { keptHeaders } from '../../shared/protocol/kept-headers.ts';
import { findRoute } from '../../shared/protocol/routes.ts';
import { createBucket, createTable, dynamoDbAt, s3At } from '../support/moto.ts';
import { accounts } from '../support/server.ts';
import { EngineCalls } from './engine-calls.ts';
import { FunctionProcess } from './function-process.ts';
import { split, toEvent, toResponse, type ApiRequest, type ApiResponse } from './rest-api.ts';

const stage = 'prod';
const secret = 'A1b2C3d4'.repeat(8);
const edgeSecret = 'Z9y8X7w6'.repeat(8);
const domain = 's3.example.test';
const originHost = 'abc123.execute-api.us-east-1.amazonaws.com';

/**
 * The functions as they are deployed, over engines in the place of AWS, behind an API Gateway and a router that do to
 * requests what is known of the real ones. It listens as a server of S3 does.
 */
export class DeploymentUnderTest {
  readonly calls: EngineCalls;
  readonly #functions: ReadonlyMap<string, FunctionProcess>;
  readonly #server: Server;

  private constructor(calls: EngineCalls, functions: ReadonlyMap<string, FunctionProcess>) {
    this.calls = calls;
    this.#functions = functions;
    this.#server = createServer((request, response) => {
      void this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(engine: string, bundles: readonly OperationBundle[]): Promise<DeploymentUnderTest> {
    const [table, blobs] = ['stillage-table', 'stillage-blobs'];
    await createTable(dynamoDbAt(engine, true), table);
    await createBucket(s3At(engine), blobs);
    await createSecrets(engine);
    await declareAccounts(engine, table);
    const calls = await EngineCalls.before(engine);
    const functions = await Promise.all(
      bundles.map(async ({ name, directory }) => {
        const environment = {
          AWS_REGION: 'us-east-1',
          // The proxy tells functions apart by it.
          AWS_ACCESS_KEY_ID: name,
          AWS_SECRET_ACCESS_KEY: 'of-the-role',
          AWS_ENDPOINT_URL: calls.endpoint,
          STILLAGE_TABLE: table,
          STILLAGE_BLOB_BUCKET: blobs,
          STILLAGE_SECRET: 'stillage',
          STILLAGE_EDGE_SECRET: 'stillage-edge',
          STILLAGE_REGION: 'us-east-1',
          STILLAGE_DOMAIN: domain,
          STILLAGE_WEBSITE_DOMAIN: `website.${domain}`,
          STILLAGE_XML_NAMESPACE: 'http://s3.amazonaws.com/doc/2006-03-01/',
          STILLAGE_ALL_USERS_GROUP_URI: 'http://acs.amazonaws.com/groups/global/AllUsers',
        };
        return [name, await FunctionProcess.start(directory, environment)] as const;
      }),
    );
    const deployment = new DeploymentUnderTest(calls, new Map(functions));
    await new Promise<void>((resolve) => deployment.#server.listen(0, '127.0.0.1', resolve));
    return deployment;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What the functions have logged of requests. */
  requests(operation: string): Record<string, unknown>[] {
    const lines = this.#functions.get(operation)!.log.split('\n');
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Sends a request to the API itself, past the router. */
  async callApi(request: ApiRequest): Promise<ApiResponse> {
    const lambda = this.#functions.get(split(request.target)[0].split('/')[1]!);
    if (lambda === undefined) return gatewayResponse('MISSING_AUTHENTICATION_TOKEN');
    try {
      return toResponse(await lambda.invoke(toEvent(request, stage)));
    } catch {
      return gatewayResponse('DEFAULT_5XX');
    }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await Promise.all([...this.#functions.values()].map((lambda) => lambda.stop()));
    await this.calls.stop();
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const answer = await this.callApi(
      routed({
        method: message.method!,
        target: message.url!,
        headers: [...Fields.fromRaw(message.rawHeaders)],
        body: Buffer.concat(chunks),
        sourceIp: message.socket.remoteAddress!,
      }),
    );
    const length = message.method === 'HEAD' ? [] : ['content-length', String(answer.body.length)];
    response.writeHead(answer.status, [...answer.headers.flat(), ...length]).end(answer.body);
  }
}

/** What the router makes of a request: it goes to the path of its operation, and the originals go along. */
function routed(request: ApiRequest): ApiRequest {
  const fields = new Fields(request.headers);
  const host = fields.get('host')!;
  const { address, query } = resolveTarget(request.target, host, { domain, websiteDomain: `website.${domain}` });
  const operation = findRoute(address, request.method, query, fields);
  const authorization = fields.get('authorization');
  return {
    ...request,
    target: `/${operation}${request.target}`,
    headers: [
      ...request.headers.filter(([name]) => name !== 'host' && name !== 'authorization'),
      ['host', originHost],
      [keptHeaders.proof, edgeSecret],
      [keptHeaders.target, request.target],
      [keptHeaders.host, host],
      [keptHeaders.address, request.sourceIp],
      ...(authorization === undefined ? [] : [[keptHeaders.authorization, authorization] as const]),
    ],
    sourceIp: '130.176.0.1',
  };
}

function gatewayResponse(type: string): ApiResponse {
  const { statusCode, responseTemplates } = gatewayResponses()[type] as {
    statusCode: string;
    responseTemplates: Record<string, string>;
  };
  return {
    status: Number(statusCode),
    headers: [['Content-Type', 'application/xml']],
    body: Buffer.from(responseTemplates['application/xml']!),
  };
}

async function createSecrets(endpoint: string): Promise<void> {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const client = new SecretsManagerClient({ region: 'us-east-1', endpoint, credentials });
  await client.send(new CreateSecretCommand({ Name: 'stillage', SecretString: secret }));
  await client.send(new CreateSecretCommand({ Name: 'stillage-edge', SecretString: edgeSecret }));
  client.destroy();
}

async function declareAccounts(endpoint: string, tableName: string): Promise<void> {
  const table = new DynamoDbTable({ tableName, client: dynamoDbAt(endpoint, true) });
  const secrets = new AesSecrets(deploymentKeys(secret).sealing);
  const declared = new Accounts({ table, secrets, clock: new SystemClock() });
  for (const project of accounts) await declared.ensure(project);
  await table.close();
}
