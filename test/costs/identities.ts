import { Sessions, type TemporaryKey } from '../../shared/access/session-tokens.ts';
import { Accounts } from '../../shared/accounts/accounts.ts';
import type { Attributes, KeyValueTable } from '../../shared/ports/key-value-table.ts';
import { accountKey } from '../../shared/storage/table/keys/account-keys.ts';
import { allowing, iamForm } from '../support/clients/iam.ts';
import type { Unsigned } from '../support/clients/signer.ts';
import { CountedBytes, openSecrets, SetClock } from '../support/storage/fixed-deps.ts';
import { person, PipelineInProcess } from '../support/storage/pipeline-in-process.ts';
import { Meter, MeteredTable, type Cost } from './metered.ts';

const project = 'shop';
/** The secret of {@link userKey}. */
export const secretAccessKey = 'secret';
/** The key of the user `ci`. */
export const userKey = 'AK';

/** A project with its root `ci`, the managed policies `reading` and `team`, the group `crew` with the former, and a role. */
export interface Shop extends ShopOver {
  readonly meter: Meter;
  readonly table: MeteredTable;
  readonly clock: SetClock;
}

/** The same over any table. */
export interface ShopOver {
  readonly accounts: Accounts;
  /** Gives the user other attributes. */
  readonly userIs: (attributes: Attributes) => Promise<unknown>;
  /** Makes a temporary key of an hour, of the user unless the session says otherwise. */
  readonly temporary: (session: object) => Promise<TemporaryKey>;
}

/** What somebody may have attached besides the managed policies of the project. */
const inline = { own: allowing('s3:*') };
/** The attributes of users, and sessions, that are looked up differently. */
export const users = {
  unlimited: {},
  inline: { attached: [], inline },
  ofAws: { attached: ['aws/AmazonS3FullAccess'], boundary: 'aws/AmazonS3FullAccess' },
  managed: { attached: ['reading'], boundary: 'team' },
  groups: { attached: ['team'], groups: ['crew'] },
} as const satisfies Readonly<Record<string, Attributes>>;
export const roleSession = { kind: 'role', role: { project, name: 'deploy', id: 'ROL1' }, name: 'ci' } as const;

/** Makes a project over a table that counts. */
export async function openShop(): Promise<Shop> {
  const meter = new Meter();
  const table = new MeteredTable(meter);
  const clock = new SetClock();
  return { meter, table, clock, ...(await openShopOver(table, clock)) };
}

/** Makes the project in a table. */
export async function openShopOver(table: KeyValueTable, clock: SetClock): Promise<ShopOver> {
  const accounts = new Accounts({ table, secrets: openSecrets, clock });
  const sessions = new Sessions({ secrets: openSecrets, randomness: new CountedBytes() });
  const declared = [{ name: 'ci', keys: [{ accessKeyId: userKey, secretAccessKey }] }];
  await accounts.ensure({ project: 'shop@acme', id: project, displayName: 'shop', users: declared });
  // As each change of its groups and policies leaves it.
  const changed = { ...(await table.get(accountKey.project(project))), r: 'token' };
  await table.write([{ key: accountKey.project(project), put: changed }]);
  const versions = { v1: { text: allowing('s3:*'), created: 1 } };
  for (const name of ['reading', 'team'])
    await table.write([{ key: accountKey.policy(project, name), put: { versions, default: 'v1' } }]);
  await table.write([{ key: accountKey.group(project, 'crew'), put: { attached: ['reading'], inline: {} } }]);
  const role = { id: 'ROL1', created: 1, inline, attached: [] };
  await table.write([{ key: accountKey.role(project, 'deploy'), put: role }]);
  return {
    accounts,
    userIs: (attributes) => table.write([{ key: accountKey.user(project, 'ci'), put: { created: 1, ...attributes } }]),
    temporary: (session) =>
      sessions.begin({
        ...{ kind: 'session', parent: userKey, issued: clock.now(), expires: clock.now() + 3_600_000 },
        ...session,
      }),
  };
}

/** What the same request takes of somebody who is not known yet, and of somebody who was looked up within two seconds. */
interface MeasuredRequest {
  readonly first: Cost;
  readonly next: Cost;
}

/** What it takes to know who asks, and what their requests take. */
export interface MeasuredCaller {
  readonly who: string;
  readonly lookup: Cost;
  readonly get: MeasuredRequest;
  readonly put: MeasuredRequest;
}

export interface Caller {
  readonly who: string;
  readonly user: Attributes;
  /** Of a temporary key. */
  readonly session?: object;
}

/** Those who are looked up differently. */
export const callers: readonly Caller[] = [
  { who: 'a user with full access', user: users.unlimited },
  { who: "a limited user: inline policies, or AWS's", user: users.inline },
  { who: 'a limited user: managed policies of the project', user: users.managed },
  { who: 'a user in a group, both with managed policies of the project', user: users.groups },
  { who: 'a temporary key of the first', user: users.unlimited, session: { kind: 'session' } },
  { who: 'a temporary key of the last', user: users.groups, session: { kind: 'session' } },
  {
    who: "a temporary key with the session's own policies",
    user: users.unlimited,
    session: { kind: 'federated', name: 'guest', policies: [inline.own] },
  },
  { who: 'a key of a role with inline policies', user: users.unlimited, session: roleSession },
];

/** Counts, for everybody who may ask, the look-up alone and whole requests. */
export async function measureCallers(): Promise<readonly MeasuredCaller[]> {
  const measured: MeasuredCaller[] = [];
  for (const caller of callers) {
    measured.push({
      who: caller.who,
      lookup: await lookupOf(caller),
      get: await requestOf(caller, { path: '/bucket/key' }),
      put: await requestOf(caller, { method: 'PUT', path: '/bucket/new', body: 'x' }),
    });
  }
  return measured;
}

/** Counts a request to IAM, of a root whose key is known. */
export async function measureAdministration(): Promise<Cost> {
  return (await requestOf(callers[0]!, iamForm({ Action: 'ListUsers' }))).next;
}

async function lookupOf({ user, session }: Caller): Promise<Cost> {
  const { meter, accounts, userIs, temporary } = await openShop();
  await userIs(user);
  const key = session && (await temporary(session));
  meter.take();
  const found = await accounts.find(key?.accessKeyId ?? userKey, 'cached', key?.sessionToken);
  if (found === undefined) throw new Error('nobody has the key');
  return meter.take();
}

/** Counts a request that comes first, and the same where who asks is known, through the whole pipeline. */
async function requestOf({ user, session }: Caller, request: Unsigned): Promise<MeasuredRequest> {
  const costOf = async (isKnown: boolean): Promise<Cost> => {
    const { meter, table, clock, accounts, userIs, temporary } = await openShop();
    const service = new PipelineInProcess([], { table, clock, projects: accounts, accessKeys: accounts });
    const send = async (what: Unsigned, key: { accessKeyId: string; secretAccessKey: string }): Promise<void> => {
      const { status, text } = await service.send(what, { ...person('ci'), key });
      if (status >= 300) throw new Error(`${status} ${text}`);
    };
    const permanent = { accessKeyId: userKey, secretAccessKey };
    await send({ method: 'PUT', path: '/bucket' }, permanent);
    await send({ method: 'PUT', path: '/bucket/key', body: 'x' }, permanent);
    await userIs(user);
    const key = session && (await temporary(session));
    const headers = { ...request.headers, ...(key && { 'x-amz-security-token': key.sessionToken }) };
    // By then, nothing of the requests before is remembered.
    clock.time += 10_000;
    if (isKnown) await accounts.find(key?.accessKeyId ?? userKey, 'cached', key?.sessionToken);
    meter.take();
    await send({ ...request, headers }, key ?? permanent);
    return meter.take();
  };
  return { first: await costOf(false), next: await costOf(true) };
}
