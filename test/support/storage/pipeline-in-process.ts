import { fullRights } from '../../../shared/access/identity-rights.ts';
import { operations as everyOperation } from '../../../functions/operations.ts';
import { composeServices } from '../../../functions/compose/services.ts';
import type { AccessKey, AccessKeys, IdentityRights, Project, Projects } from '../../../shared/access/identity.ts';
import { sessionName } from '../../../shared/access/user-arn.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import type { BlobStore } from '../../../shared/ports/blob-store.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { WebReader } from '../../../shared/ports/web-reader.ts';
import { Fields, type RequestMessage, type ResponseMessage } from '../../../shared/http/message.ts';
import { defaultLimits, type Limits } from '../../../shared/protocol/limits.ts';
import type { Services } from '../../../shared/protocol/operation.ts';
import { Pipeline, type PipelineDeps } from '../../../shared/protocol/pipeline.ts';
import { MemoryBlobs } from '../../model/memory-blobs.ts';
import { alarmAdapters, SetClock } from './fixed-deps.ts';
import { MemoryTable } from './memory-table.ts';
import type { RawRequest } from '../clients/raw-client.ts';
import { anonymous, presigned, signed, type Key, type Unsigned } from '../clients/signer.ts';

/** A user of a project, with an access key. */
export interface Person {
  readonly project: Project;
  readonly key: Key;
  readonly suspended: boolean;
  /** Default: full access. */
  readonly rights?: IdentityRights;
  /** The key is one of a role that is called as the key is. */
  readonly isRole?: true;
}

/** A user named after their project, which has the e-mail form `<name>@example.test` and the id `<name>-id`. */
export function person(name: string, project = name, suspended = false): Person {
  return {
    project: { id: `${project}-id`, email: `${project}@example.test`, displayName: project },
    key: { accessKeyId: `key-of-${name}`, secretAccessKey: `secret-of-${name}` },
    suspended,
  };
}

/** The parts of a response that tests of authorisation check. */
export interface Answered {
  readonly status: number;
  /** The code of an error. */
  readonly code: string | undefined;
  readonly text: string;
  readonly header: (name: string) => string | undefined;
}

/**
 * The whole pipeline with every operation, over a table and blobs in memory and without a transport: as many services as a test
 * wants, and everything about them in its hands.
 */
export class PipelineInProcess<Table extends KeyValueTable = MemoryTable> {
  readonly table: Table;
  readonly blobs = new MemoryBlobs();
  readonly services: Services;
  /** The problems that were logged. */
  readonly problems: unknown[] = [];
  readonly #pipeline: Pipeline;
  readonly host = 'stillage.test';

  /** @param deps another table, a wrapper of the blobs, the clock, other than the default limits, other operations, projects and keys other than those of the people, and who takes acts down */
  constructor(
    people: readonly Person[],
    {
      table,
      before = (blobs) => blobs,
      clock = new SetClock(Date.now()),
      limits = {},
      operations = everyOperation,
      audit,
      projects: accounts,
      accessKeys,
      webReader,
    }: {
      table?: Table;
      before?: (blobs: BlobStore) => BlobStore;
      clock?: Clock;
      limits?: Partial<Limits>;
      operations?: PipelineDeps['operations'];
      audit?: PipelineDeps['audit'];
      projects?: Projects;
      accessKeys?: AccessKeys;
      webReader?: WebReader;
    } = {},
  ) {
    // Without another one, it is of this type.
    this.table = table ?? (new MemoryTable() as KeyValueTable as Table);
    const projects = new Map(people.map(({ project }) => [project.id, project]));
    this.services = composeServices(
      {
        table: this.table,
        blobs: before(this.blobs.of('service', () => clock.now())),
        clock,
        randomness: new CryptoRandomness(),
        managedKey: undefined,
        ...alarmAdapters,
      },
      {
        ...(webReader && { webReader }),
        projects: accounts ?? {
          project: async (id) => projects.get(id),
          byEmail: async (email) => [...projects.values()].find((project) => project.email === email),
          byNumber: async (number) => [...projects.values()].find((project) => project.accountNumber === number),
          account: async (project) => ({ ...project, accountNumber: project.accountNumber ?? '000000000000' }),
          principalId: async (id, { name }) =>
            people.some((one) => one.project.id === id && nameOf(one) === name) ? idOf(name) : undefined,
        },
        settings: {
          region: 'us-east-1',
          xmlNamespace: 'http://s3.amazonaws.com/doc/2006-03-01/',
          allUsersGroupUri: 'http://acs.amazonaws.com/groups/global/AllUsers',
          limits: { ...defaultLimits, minimumPartBytes: 0, ...limits },
          tokenKey: new Uint8Array(32),
        },
      },
    );
    const keys = new Map(people.map((one) => [one.key.accessKeyId, accessKeyOf(one)]));
    let requests = 0;
    this.#pipeline = new Pipeline({
      services: this.services,
      operations,
      audit,
      accessKeys: accessKeys ?? { find: async (id) => keys.get(id) },
      telemetry: {
        request: () => undefined,
        problem: (...problem) => void this.problems.push(problem),
        note: () => undefined,
      },
      hostNames: { domain: this.host, websiteDomain: `website.${this.host}` },
      signing: {},
      consoleOrigins: new Set(),
      requestId: () => `tx${(requests += 1)}`,
      hostId: 'host',
    });
  }

  /** Sends a request signed by a user, or an anonymous one if there is no name. */
  send(request: Unsigned, by: Person | undefined): Promise<Answered> {
    return this.#answer(
      by ? signed(this.host, request, { key: by.key, time: this.services.clock.now() }) : anonymous(this.host, request),
    );
  }

  sendPresigned(request: Unsigned, by: Person): Promise<Answered> {
    return this.#answer(presigned(this.host, request, { key: by.key, time: this.services.clock.now() }));
  }

  /** Sends a request as it is. */
  exchange(request: RawRequest): Promise<Answered> {
    return this.#answer(request);
  }

  /** As a transport hands it over. */
  handle(request: RequestMessage): Promise<ResponseMessage> {
    return this.#pipeline.handle(request);
  }

  async #answer({ method, target, headers, body = '' }: RawRequest): Promise<Answered> {
    const response = await this.#pipeline.handle({
      ...{ method, target, fields: new Fields(headers), secure: false, remoteAddress: '192.0.2.7' },
      body: once(Buffer.from(body)),
    });
    const text = await textOf(response.body);
    return {
      status: response.status,
      code: /<Code>(\w+)<\/Code>/.exec(text)?.[1],
      text,
      header: (name) => response.fields.get(name),
    };
  }
}

/** Users are called as their keys. */
function nameOf({ key }: Person): string {
  return key.accessKeyId;
}

function idOf(user: string): string {
  return `id-of-${user}`;
}

function accessKeyOf({ key, project, suspended, rights = fullRights, isRole }: Person): AccessKey {
  const { accessKeyId, secretAccessKey } = key;
  const id = idOf(accessKeyId);
  const role = { project: project.id, name: accessKeyId, id };
  const asRole = {
    name: sessionName(accessKeyId, 'session'),
    role: { name: accessKeyId, path: '/' },
    session: { kind: 'role', role, name: 'session', issued: 0, expires: Infinity },
  } as const;
  return {
    secret: secretAccessKey,
    user: {
      kind: 'user',
      id,
      accessKeyId,
      name: accessKeyId,
      project,
      privileges: ['monitoring'],
      rights: isRole ? { ...rights, isOfRole: true } : rights,
      ...(isRole && asRole),
    },
    suspended,
    unchanged: [],
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

async function textOf(body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined): Promise<string> {
  if (body === undefined) return '';
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
