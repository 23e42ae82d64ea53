import { listen, type EngineCall, type Engines } from '../support/cloud/engines.ts';
import type { EngineAnswer } from '../support/cloud/dynamodb/engine.ts';
import type { LogInsightsEngine } from '../support/cloud/log-insights.ts';
import type { Grant, Grantee } from './template-grants.ts';

/** An action of a call in terms of IAM, and its resource. */
interface Use {
  readonly action: string;
  readonly thing: string;
  /** The account of the resource, where it may be another one. */
  readonly account?: string;
}

/**
 * Stands before the engines as IAM does before AWS: a call that the function's role in the template does not grant is denied. Functions are
 * identified by their access key ids; other keys may do everything.
 */
export class RoleGate {
  readonly #engines: Engines;
  #door: Awaited<ReturnType<typeof listen>> | undefined;
  readonly #grantees: ReadonlyMap<string, Grantee>;
  readonly #used = new Map<string, Set<string>>();
  readonly #denied: string[] = [];
  /** Answers queries of logs, if there are any. */
  logs: LogInsightsEngine | undefined;
  /** Whether the engines are out of order: then every call gets a 503. */
  isOut = false;
  /** Called with each action of a function, once it was answered. */
  noticed: (caller: string, action: string) => void = () => undefined;

  private constructor(engines: Engines, grantees: ReadonlyMap<string, Grantee>) {
    this.#engines = engines;
    this.#grantees = grantees;
  }

  static async before(engines: Engines, grantees: ReadonlyMap<string, Grantee>): Promise<RoleGate> {
    const gate = new RoleGate(engines, grantees);
    gate.#door = await listen((call) => gate.#answer(call));
    return gate;
  }

  get endpoint(): string {
    return this.#door!.endpoint;
  }

  /** The actions that were denied: `<function>: <action> on <resource>`. */
  get denied(): readonly string[] {
    return this.#denied;
  }

  /** The IAM actions that each key has used, denied ones left out. */
  get actions(): ReadonlyMap<string, ReadonlySet<string>> {
    return new Map(
      [...this.#used].map(([caller, used]) => [caller, new Set([...used].map((use) => use.split(' ')[0]!))]),
    );
  }

  /**
   * Returns the grants of roles that were not used, except for logs and traces, which the runtime writes. A role of several functions is
   * named after the first of them.
   */
  unused(): readonly string[] {
    const roles = new Map<string, Grantee[]>();
    for (const one of this.#grantees.values()) roles.set(one.role, [...(roles.get(one.role) ?? []), one]);
    return [...roles.values()].flatMap((sharing) => {
      const used = new Set(sharing.flatMap(({ name }) => [...(this.#used.get(name) ?? [])]));
      const granted = sharing[0]!.grants.flatMap(({ actions, things }) =>
        actions.flatMap((action) => things.map((thing) => `${action} on ${thing}`)),
      );
      const idle = granted.filter((grant) => !/^(logs:(Create|Put)|xray:)/.test(grant) && !used.has(grant));
      return idle.map((grant) => `${sharing[0]!.name}: ${grant}`);
    });
  }

  async stop(): Promise<void> {
    await this.#door!.stop();
  }

  async #answer(call: EngineCall): Promise<EngineAnswer> {
    const caller = /Credential=([^/]+)\//.exec(call.headers.authorization ?? '')?.[1] ?? 'nobody';
    const own = this.#grantees.get(caller);
    const uses = own ? usesOf(call) : [];
    for (const use of uses) {
      const grant = own!.grants.find((one) => covers(one, use));
      if (grant === undefined) {
        this.#denied.push(`${caller}: ${use.action} on ${use.thing}`);
        return denial(call);
      }
      const used = this.#used.get(caller) ?? new Set();
      this.#used.set(caller, used.add(`${use.action} on ${grant.things.includes(use.thing) ? use.thing : '*'}`));
    }
    const answer = await this.#pass(call);
    for (const { action } of uses) this.noticed(caller, action);
    return answer;
  }

  /** Forwards a call to its engine. */
  async #pass(call: EngineCall): Promise<EngineAnswer> {
    if (this.isOut) return { status: 503, headers: ['Content-Type', 'text/plain'], body: Buffer.from('out of order') };
    const target = String(call.headers['x-amz-target']);
    if (!target.startsWith('Logs_') || this.logs === undefined) return this.#engines.answer(call);
    const { status, body } = await this.logs.answer(target, call.body.toString());
    const headers = ['Content-Type', 'application/x-amz-json-1.1'];
    return { status, headers, body: Buffer.from(JSON.stringify(body)) };
  }
}

function covers({ actions, things, foreignTo }: Grant, { action, thing, account }: Use): boolean {
  const isMeant = foreignTo === undefined || account !== foreignTo;
  return isMeant && actions.includes(action) && (things.includes(thing) || things.includes('*'));
}

/**
 * Returns the actions of a call in terms of IAM. https://docs.aws.amazon.com/service-authorization/latest/reference/reference.html
 * Transactions have no actions of their own.
 */
function usesOf(request: EngineCall): readonly Use[] {
  const { body } = request;
  const [service = '', call = ''] = String(request.headers['x-amz-target'] ?? '').split('.');
  if (service.startsWith('DynamoDBStreams')) return [{ action: `dynamodb:${call}`, thing: 'stream' }];
  if (service.startsWith('DynamoDB')) return tableCalls(call, body).map((action) => ({ action, thing: 'table' }));
  if (service === 'secretsmanager') {
    const { SecretId } = JSON.parse(body.toString()) as { SecretId: string };
    return [{ action: `secretsmanager:${call}`, thing: SecretId.includes('edge') ? 'edge secret' : 'secret' }];
  }
  if (service.startsWith('Logs_')) {
    const { logGroupNames = ['*'] } = JSON.parse(body.toString()) as { logGroupNames?: readonly string[] };
    return logGroupNames.map((name) => ({ action: `logs:${call}`, thing: name === '*' ? '*' : `log ${name}` }));
  }
  if (service === 'AmazonSQS') {
    const { QueueUrl } = JSON.parse(body.toString()) as { QueueUrl: string };
    // A batch has no action of its own.
    return [{ action: `sqs:${call.replace('Batch', '')}`, thing: QueueUrl.split(/[/-]/).at(-1)! }];
  }
  if (String(request.headers['content-type']).startsWith('application/x-www-form-urlencoded')) {
    const form = new URLSearchParams(body.toString());
    const account = form.get('TopicArn')?.split(':')[4] ?? '';
    return [{ action: `sns:${form.get('Action')}`, thing: 'topics', account }];
  }
  return [blobCall(request)];
}

const transactionCalls: Readonly<Record<string, string>> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Delete: 'DeleteItem',
  Update: 'UpdateItem',
  ConditionCheck: 'ConditionCheckItem',
};

function tableCalls(call: string, body: Buffer): readonly string[] {
  if (!call.startsWith('Transact')) return [`dynamodb:${call}`];
  const { TransactItems } = JSON.parse(body.toString()) as { TransactItems: readonly object[] };
  return TransactItems.flatMap((item) => Object.keys(item)).map((kind) => `dynamodb:${transactionCalls[kind]}`);
}

function blobCall({ method, url }: EngineCall): Use {
  const { pathname, searchParams } = new URL(url, 'http://engine');
  const [, , ...key] = pathname.split('/');
  if (key.join('/') === '') {
    const removes = method === 'POST' && searchParams.has('delete');
    return removes ? { action: 's3:DeleteObject', thing: 'blobs' } : { action: 's3:ListBucket', thing: 'blob bucket' };
  }
  const thing = key[0] === 'blobs' ? 'blobs' : 'another object';
  if (method === 'DELETE') {
    return { action: searchParams.has('uploadId') ? 's3:AbortMultipartUpload' : 's3:DeleteObject', thing };
  }
  return { action: method === 'GET' || method === 'HEAD' ? 's3:GetObject' : 's3:PutObject', thing };
}

/** AccessDenied in the service's own form. */
function denial({ headers }: EngineCall): EngineAnswer {
  if (headers['x-amz-target'] !== undefined) {
    const body = { __type: 'com.amazon.coral.service#AccessDeniedException', message: 'not granted by the role' };
    return {
      status: 400,
      headers: ['Content-Type', 'application/x-amz-json-1.0'],
      body: Buffer.from(JSON.stringify(body)),
    };
  }
  const error = '<Error><Code>AccessDenied</Code><Message>not granted by the role</Message></Error>';
  const isQuery = String(headers['content-type']).startsWith('application/x-www-form-urlencoded');
  const body = isQuery ? `<ErrorResponse>${error}</ErrorResponse>` : error;
  return { status: 403, headers: ['Content-Type', 'application/xml'], body: Buffer.from(body) };
}
