import { createHash } from 'node:crypto';
import { AccountRefusal } from '../../shared/access/account-names.ts';
import type { Auditor } from '../../shared/audit/audit-record.ts';
import { actOfCommand } from './audited.ts';
import type { OperatorRecord, Operators, Scope } from '../../shared/accounts/operators.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { Fields, type RequestMessage, type ResponseMessage } from '../../shared/http/message.ts';
import { TableBusy } from '../../shared/ports/key-value-table.ts';
import type { Secrets } from '../../shared/ports/secrets.ts';
import type { Telemetry } from '../../shared/ports/telemetry.ts';
import {
  adminPath,
  InvalidArguments,
  pathOf,
  Refusal,
  type AdministrationCommand,
  type AdministrationDeps,
} from './command.ts';
import { IdempotentRequests, type Done } from './idempotent-requests.ts';
import { openApi, tokenPath } from './openapi.ts';

/** The most bytes of a request's body. */
const maxBody = 1024 * 1024;

/** The scopes that a command of a scope is carried out for. */
const suffices: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ['read', 'manage'],
  bill: ['bill', 'manage'],
  manage: ['manage'],
};

interface AdminApiDeps {
  readonly commands: readonly AdministrationCommand<never, unknown>[];
  readonly administration: AdministrationDeps;
  readonly operators: Operators;
  /** Takes down who changed what. */
  readonly audit: Auditor | undefined;
  readonly secrets: Secrets;
  readonly telemetry: Telemetry;
  /** Returns the id of a request. */
  readonly requestId: () => string;
  /** Tells whether a page of this origin, which asks this host, is the operators' own. Default: no page is. */
  readonly isOwnPage?: (origin: string, host: string) => boolean;
}

/** What a request is refused with: https://www.rfc-editor.org/rfc/rfc9457 */
class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly fields: readonly (readonly [string, string])[];

  constructor(status: number, title: string, detail: string, fields: readonly (readonly [string, string])[] = []) {
    super(detail);
    this.status = status;
    this.title = title;
    this.fields = fields;
  }
}

/** Carries out administrative commands over HTTP, for operators with bearer tokens: docs/admin-api.md. */
export class AdminApi {
  readonly #deps: AdminApiDeps;
  readonly #commands: ReadonlyMap<string, AdministrationCommand<never, unknown>>;
  readonly #idempotent: IdempotentRequests;
  #document: string | undefined;

  constructor(deps: AdminApiDeps) {
    this.#deps = deps;
    this.#commands = new Map(deps.commands.map((command) => [pathOf(command.name), command]));
    const { table, clock } = deps.administration;
    this.#idempotent = new IdempotentRequests({ table, clock, secrets: deps.secrets });
  }

  async handle(request: RequestMessage): Promise<ResponseMessage> {
    const { telemetry, requestId } = this.#deps;
    const { clock } = this.#deps.administration;
    const [id, began] = [requestId(), clock.now()];
    const about: About = {};
    let response = await this.#answer(request, about).catch((error: unknown) => problemResponse(problemOf(error)));
    if (response.error !== undefined)
      telemetry.problem('an administrative request failed', response.error, { requestId: id });
    telemetry.request({
      ...{ requestId: id, operation: 'Administer', method: request.method, status: response.status },
      ...{ bytesIn: request.received?.() ?? 0, bytesOut: Buffer.byteLength(response.body ?? '') },
      milliseconds: clock.now() - began,
    });
    const { audit } = this.#deps;
    if (audit && about.command?.scope === 'manage') {
      const isTakenDown = audit.record({
        by: { kind: 'operator', operator: about.operator! },
        ...actOfCommand(about.command.name, about.given),
        ...{ requestId: id, address: request.remoteAddress, agent: request.fields.get('user-agent') },
        error: response.status < 400 ? undefined : `${response.status}`,
      });
      if (audit.secured && response.status < 400 && !(isTakenDown && (await audit.secured())))
        response = problemResponse(unrecorded());
    }
    if (about.command !== undefined) {
      const { operator = '-', command } = about;
      telemetry.note('administration', { operator, command: command.name, status: response.status, requestId: id });
    }
    const common = [
      ['x-stillage-request-id', id],
      ['date', new Date(began).toUTCString()],
      ['cache-control', 'no-store'],
      ['x-content-type-options', 'nosniff'],
    ] as const;
    return { status: response.status, fields: new Fields([...common, ...response.fields]), body: response.body ?? '' };
  }

  async #answer({ method, target, fields, body }: RequestMessage, about: About): Promise<Answered> {
    // A token in a query would stand in the logs of proxies, and nothing here takes one.
    if (target.includes('?')) throw new Problem(400, 'Bad Request', 'Nothing here has a query: send JSON as the body.');
    const origin = fields.get('origin');
    if (origin !== undefined && this.#deps.isOwnPage?.(origin, fields.get('host') ?? '') !== true)
      throw new Problem(
        403,
        'Forbidden',
        "Pages in browsers may not administer the service, but for the operators' own.",
      );
    if (target === `${adminPath}/openapi.json`) {
      if (method !== 'GET') throw notAllowed('GET');
      return { status: 200, fields: json, body: (this.#document ??= JSON.stringify(openApi(this.#deps.commands))) };
    }
    const operator = await this.#authenticated(fields);
    about.operator = operator.operator;
    if (target === tokenPath) {
      if (method !== 'GET') throw notAllowed('GET');
      const { used: _, ...shown } = operator;
      return { status: 200, fields: json, body: JSON.stringify(shown) };
    }
    const command = this.#commands.get(target);
    if (command === undefined)
      throw new Problem(404, 'Not Found', `Nothing is here: ${adminPath}/openapi.json lists what is.`);
    about.command = command;
    if (method !== 'POST') throw notAllowed('POST');
    if (!suffices[command.scope].some((scope) => operator.scopes.includes(scope))) {
      throw new Problem(403, 'Forbidden', `The operator ${operator.operator} lacks the scope ${command.scope}.`, [
        ['www-authenticate', `Bearer realm="stillage", error="insufficient_scope", scope="${command.scope}"`],
      ]);
    }
    const text = await bodyOf(fields, body);
    const given = (about.given = parsed(text));
    const key = fields.get('idempotency-key');
    const run = (): Promise<Done> => this.#run(command, given);
    if (key === undefined || command.scope !== 'manage') return answered(await run());
    if (!/^[\x21-\x7e]{1,255}$/.test(key))
      throw new Problem(400, 'Bad Request', 'Idempotency-Key must have 1 to 255 printable characters without blanks.');
    const asked = createHash('sha256').update(`${command.name}\0${text}`).digest('hex');
    const once = await this.#idempotent.once({ operator: operator.operator, key, asked }, run);
    switch (once.outcome) {
      case 'done':
        return answered(once.done);
      case 'repeated':
        return answered(once.done, [['idempotency-replayed', 'true']]);
      case 'another':
        throw new Problem(422, 'Unprocessable Content', 'This Idempotency-Key was used for another request.');
      case 'unfinished':
        throw new Problem(
          409,
          'Conflict',
          'The request with this Idempotency-Key has not ended, or its end is not known.',
        );
    }
  }

  /** @throws Problem */
  async #authenticated(fields: Fields): Promise<OperatorRecord> {
    const given = fields.get('authorization');
    const token = /^bearer +([\x21-\x7e]+)$/i.exec(given ?? '')?.[1];
    const operator = token === undefined ? undefined : await this.#deps.operators.authenticate(token);
    if (operator !== undefined) return operator;
    const error = given === undefined ? '' : ', error="invalid_token"';
    throw new Problem(
      401,
      'Unauthorized',
      'A valid token of an operator is wanted: make one with stillage operator create.',
      [['www-authenticate', `Bearer realm="stillage"${error}`]],
    );
  }

  /** Carries out a command. What it refuses is an answer as well, which a repetition gets again. */
  async #run(command: AdministrationCommand<never, unknown>, given: unknown): Promise<Done> {
    try {
      const result = await command.run(this.#deps.administration, given as never);
      return { status: 200, body: JSON.stringify(result ?? null) };
    } catch (error) {
      const problem = problemOf(error);
      if (problem.status >= 500) throw error;
      const { status, body } = problemResponse(problem);
      return { status, body };
    }
  }
}

/** What is known of a request, for the log. */
interface About {
  operator?: string;
  command?: AdministrationCommand<never, unknown>;
  given?: unknown;
}

interface Answered extends Done {
  readonly fields: readonly (readonly [string, string])[];
  readonly error?: unknown;
}

const json = [['content-type', 'application/json']] as const;
const problemJson = [['content-type', 'application/problem+json']] as const;

/** Returns the answer of a command, or of an earlier request that asked for the same. */
function answered(done: Done, fields: Answered['fields'] = []): Answered {
  return { ...done, fields: [...(done.status === 200 ? json : problemJson), ...fields] };
}

function notAllowed(method: string): Problem {
  return new Problem(405, 'Method Not Allowed', `Only ${method} is supported here.`, [['allow', method]]);
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof InvalidArguments) return new Problem(400, 'Bad Request', error.message);
  if (error instanceof AccountRefusal || error instanceof Refusal) return new Problem(409, 'Conflict', error.message);
  if (error instanceof TableBusy)
    return new Problem(503, 'Service Unavailable', 'The table is too busy to answer: try again.');
  if (error instanceof S3Error) return new Problem(error.status, error.code, `${error.code}: ${error.message}`);
  const problem = new Problem(500, 'Internal Server Error', 'The service could not do this; its log says why.');
  problem.cause = error;
  return problem;
}

function problemResponse({ status, title, message: detail, fields, cause }: Problem): Answered {
  const body = JSON.stringify({ type: 'about:blank', title, status, detail });
  return { status, fields: [...problemJson, ...fields], body, error: cause };
}

/** Returns the text of a body. @throws Problem */
async function bodyOf(fields: Fields, body: RequestMessage['body']): Promise<string> {
  if (body === undefined) return '{}';
  const type = fields.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new Problem(415, 'Unsupported Media Type', 'Send application/json.');
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBody) throw new Problem(413, 'Content Too Large', `A body has at most ${maxBody} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws Problem */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(400, 'Bad Request', 'The body is not JSON.');
  }
}

function unrecorded(): Problem {
  return new Problem(503, 'Service Unavailable', 'It may be done, but is not in the audit log: look, and try again.');
}
