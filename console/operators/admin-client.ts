import { offline, S3Failure } from '../s3/failure.ts';

/** What a token may be used for: docs/admin-api.md. */
export type Scope = 'read' | 'bill' | 'manage';

/** Whom a token belongs to. Times are in milliseconds. */
export interface Operator {
  readonly operator: string;
  readonly scopes: readonly Scope[];
  readonly until?: number;
}

interface Stored {
  readonly created: number;
  readonly suspended: boolean;
}

interface Customer extends Stored {
  readonly customer: string;
}

interface Project extends Stored {
  readonly id: string;
  /** `project@customer` */
  readonly email: string;
  readonly customer: string;
  readonly displayName: string;
  readonly accountNumber?: string;
  readonly root?: string;
}

interface User extends Stored {
  /** `project:user@customer` */
  readonly user: string;
  readonly name: string;
}

/** An access key, without its secret. */
interface AccessKey extends Stored {
  readonly accessKeyId: string;
  readonly user: string;
  /** When it ends. */
  readonly until?: number;
  /** Its last use, to a quarter of an hour. */
  readonly used?: { readonly at: number; readonly service: string };
}

interface Bucket {
  readonly bucket: string;
  readonly created: number;
}

export interface BucketQuota {
  /** What counts towards the quota. */
  readonly used: { readonly bytes: number; readonly objects: number };
  readonly quota: { readonly bytes: number; readonly objects: number };
}

interface ProjectQuota {
  readonly buckets: { readonly used: number; readonly quota: number };
}

/** The usage of a day (UTC). */
export interface DayUsage {
  readonly day: string;
  readonly a: number;
  readonly b: number;
  readonly free: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly byteHours: number;
  readonly objects: number;
}

/** Who did something: a user of a project, nobody known, an operator, or who has the machine. */
export type Actor =
  | { readonly kind: 'user'; readonly user: string; readonly key: string }
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'operator'; readonly operator: string }
  | { readonly kind: 'machine'; readonly user: string }
  | { readonly kind: 'invoker' };

/** An entry of the audit log. */
export interface AuditRecord {
  readonly time: number;
  readonly id: string;
  readonly by: Actor;
  readonly event: string;
  readonly address?: string;
  readonly agent?: string;
  readonly bucket?: string;
  readonly key?: string;
  readonly given?: Readonly<Record<string, unknown>>;
  readonly error?: string;
}

/** A page of a list; without `next`, it is the last one. */
type PageOf<Name extends string, Item> = Readonly<Record<Name, readonly Item[]>> & { readonly next?: string };

/** What the commands of the API that are used here answer. */
export interface Answers {
  'customer list': PageOf<'customers', Customer>;
  'customer show': Customer;
  'customer suspend': null;
  'customer resume': null;
  'project list': PageOf<'projects', Project>;
  'project show': Project;
  'project suspend': null;
  'project resume': null;
  'user list': PageOf<'users', User>;
  'user suspend': null;
  'user resume': null;
  'key list': PageOf<'keys', AccessKey>;
  'key suspend': null;
  'key resume': null;
  'bucket list': PageOf<'buckets', Bucket>;
  'quota show project': ProjectQuota;
  'quota show bucket': BucketQuota;
  usage: { readonly month: string; readonly days: readonly DayUsage[] };
  audit: PageOf<'records', AuditRecord>;
}

const base = '/_stillage/admin/v1';

/** The code of a failure whose token is not valid. */
export const tokenRefused = 'Unauthorized';

/** Carries out commands of operators, at the origin of the page. It alone knows the token, which no address and no storage ever has. */
export class AdminClient {
  readonly #token: string;
  readonly #onRefused: () => void;

  /** @param onRefused called when the token is no longer valid */
  constructor(token: string, onRefused: () => void) {
    this.#token = token;
    this.#onRefused = onRefused;
  }

  /** Carries out a command. @throws S3Failure with the reason of a refusal */
  async ask<Command extends keyof Answers>(
    command: Command,
    given: object = {},
    signal?: AbortSignal,
  ): Promise<Answers[Command]> {
    const body = JSON.stringify(given);
    const answer = await this.#send(`${base}/${command.replaceAll(' ', '/')}`, { method: 'POST', body, signal });
    return answer as Answers[Command];
  }

  /** Returns whom the token belongs to. @throws S3Failure if it is not valid */
  async whose(): Promise<Operator> {
    return (await this.#send(`${base}/token`, { method: 'GET' })) as Operator;
  }

  async #send(
    path: string,
    { body, signal, method }: { method: string; body?: string; signal?: AbortSignal | undefined },
  ): Promise<unknown> {
    // What no token has cannot be sent, either.
    if (!isSendable(this.#token)) throw failure(401, tokenRefused, '', '');
    const response = await fetch(path, {
      ...{ method, cache: 'no-store', credentials: 'omit', redirect: 'error' },
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    }).catch((error: unknown) => {
      throw signal?.aborted ? error : offline();
    });
    const id = response.headers.get('x-stillage-request-id') ?? '';
    const answer: unknown = await response.json().catch(() => undefined);
    if (response.ok && answer !== undefined) return answer;
    if (response.status === 401) this.#onRefused();
    const { title = '', detail = '' } = (answer ?? {}) as { readonly title?: string; readonly detail?: string };
    throw failure(response.status, title, detail, id);
  }
}

/** Not by a regular expression: the browser keeps the text that the last one matched, where scripts can read it. */
function isSendable(token: string): boolean {
  return token !== '' && Array.from(token).every((char) => char > ' ' && char <= '~');
}

function failure(status: number, title: string, message: string, requestId: string): S3Failure {
  return new S3Failure({ status, code: status === 503 ? 'SlowDown' : title, message, requestId });
}
