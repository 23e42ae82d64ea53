import { AccountRefusal } from '../../shared/access/account-names.ts';
import { parsePrivilege, type Administration } from '../../shared/access/administration.ts';
import type { KeyAdministration } from '../../shared/access/key-administration.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { bucketCountOf, ownsNoBucket } from '../../shared/metadata/bucket-count.ts';
import type { Buckets } from '../../shared/metadata/buckets.ts';
import type { Amount } from '../../shared/metadata/amount.ts';
import type { Usage } from '../../shared/metadata/usage.ts';
import type { KeyValueTable } from '../../shared/ports/key-value-table.ts';
import { limitTable } from '../../shared/protocol/limits.ts';

/** The rooms in which customers, projects, users, keys and quotas are managed: those of the command line. */
export interface AdministrationRooms {
  readonly accounts: Administration;
  readonly keys: KeyAdministration;
  readonly buckets: Buckets;
  readonly usage: Usage;
  readonly table: KeyValueTable;
}

/** A command as the command line has it, and what is given with it: `{"command": "key create", "user": "shop:ci@acme"}`. */
export type AdministrationRequest = { readonly command: string } & Readonly<Record<string, unknown>>;

/** What came of a command, or why it cannot be done. */
export type AdministrationAnswer =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: string };

type Given = Readonly<Record<string, unknown>>;

/** What a command is given: `text`, `number` and `flag`, and with `?` what may be left out. */
type Kind = 'text' | 'text?' | 'number?' | 'flag?';

interface AdministrationCommand {
  readonly takes: Readonly<Record<string, Kind>>;
  readonly act: (rooms: AdministrationRooms, given: Given) => Promise<unknown>;
}

const hour = 60 * 60 * 1000;
/** More than this no project can be given. */
const mostBuckets = limitTable.bucketsPerProject.most;

/** The commands, called as those of the command line. */
export const administrationCommands: Readonly<Record<string, AdministrationCommand>> = {
  'customer create': {
    takes: { customer: 'text' },
    act: ({ accounts }, given) => accounts.createCustomer(text(given, 'customer')),
  },
  'customer list': { takes: {}, act: ({ accounts }) => accounts.customers() },
  'customer show': {
    takes: { customer: 'text' },
    act: async ({ accounts }, given) => ({
      ...(await accounts.customer(text(given, 'customer'))),
      projects: await accounts.projects(text(given, 'customer')),
    }),
  },
  'customer suspend': {
    takes: { customer: 'text' },
    act: ({ accounts }, given) => accounts.suspendCustomer(text(given, 'customer'), true),
  },
  'customer resume': {
    takes: { customer: 'text' },
    act: ({ accounts }, given) => accounts.suspendCustomer(text(given, 'customer'), false),
  },
  'customer remove': {
    takes: { customer: 'text' },
    act: ({ accounts }, given) => accounts.removeCustomer(text(given, 'customer')),
  },

  'project create': {
    takes: { project: 'text', id: 'text?', displayName: 'text?' },
    act: ({ accounts }, given) => accounts.createProject(text(given, 'project'), some(given, 'id', 'displayName')),
  },
  'project list': {
    takes: { customer: 'text?' },
    act: ({ accounts }, { customer }) => accounts.projects(customer as string | undefined),
  },
  'project show': {
    takes: { project: 'text' },
    act: async ({ accounts, table }, given) => {
      const project = await accounts.project(text(given, 'project'));
      return { ...project, users: await accounts.users(project.id), buckets: await bucketCountOf(table, project.id) };
    },
  },
  'project suspend': {
    takes: { project: 'text' },
    act: ({ accounts }, given) => accounts.suspendProject(text(given, 'project'), true),
  },
  'project resume': {
    takes: { project: 'text' },
    act: ({ accounts }, given) => accounts.suspendProject(text(given, 'project'), false),
  },
  'project remove': {
    takes: { project: 'text' },
    act: ({ accounts }, given) => accounts.removeProject(text(given, 'project'), ownsNoBucket),
  },

  'user create': {
    takes: { user: 'text', without: 'text?' },
    act: ({ accounts }, given) => {
      const lacks = given['without'] === undefined ? [] : text(given, 'without').split(',').map(parsePrivilege);
      return accounts.createUser(text(given, 'user'), lacks);
    },
  },
  'user list': { takes: { project: 'text' }, act: ({ accounts }, given) => accounts.users(text(given, 'project')) },
  'user show': { takes: { user: 'text' }, act: ({ accounts }, given) => accounts.user(text(given, 'user')) },
  'user suspend': {
    takes: { user: 'text' },
    act: ({ accounts }, given) => accounts.suspendUser(text(given, 'user'), true),
  },
  'user resume': {
    takes: { user: 'text' },
    act: ({ accounts }, given) => accounts.suspendUser(text(given, 'user'), false),
  },
  'user remove': { takes: { user: 'text' }, act: ({ accounts }, given) => accounts.removeUser(text(given, 'user')) },
  'user grant': { takes: { user: 'text', privilege: 'text' }, act: privilege(true) },
  'user revoke': { takes: { user: 'text', privilege: 'text' }, act: privilege(false) },

  'key create': {
    takes: { user: 'text', id: 'text?', random: 'flag?' },
    act: ({ keys }, given) => keys.createKey(text(given, 'user'), some(given, 'id', 'random')),
  },
  'key list': { takes: { of: 'text' }, act: ({ keys }, given) => keys.keys(text(given, 'of')) },
  'key show': { takes: { key: 'text' }, act: ({ keys }, given) => keys.key(text(given, 'key')) },
  'key rotate': {
    takes: { key: 'text', overlapHours: 'number?' },
    act: ({ keys }, given) => {
      const hours = given['overlapHours'] as number | undefined;
      return keys.rotateKey(text(given, 'key'), hours === undefined ? undefined : hours * hour);
    },
  },
  'key suspend': { takes: { key: 'text' }, act: ({ keys }, given) => keys.suspendKey(text(given, 'key'), true) },
  'key resume': { takes: { key: 'text' }, act: ({ keys }, given) => keys.suspendKey(text(given, 'key'), false) },
  'key remove': { takes: { key: 'text' }, act: ({ keys }, given) => keys.removeKey(text(given, 'key')) },

  'quota show': {
    takes: { bucket: 'text' },
    act: async ({ buckets, usage }, given) => {
      const { id, quota } = await buckets.load(text(given, 'bucket'));
      return { used: await usage.held(id), quota: quota ?? {} };
    },
  },
  'quota set': {
    takes: { bucket: 'text', bytes: 'number?', objects: 'number?' },
    act: ({ buckets }, given) => buckets.setQuota(text(given, 'bucket'), some<Amount>(given, 'bytes', 'objects')),
  },
  'quota buckets': {
    takes: { project: 'text', buckets: 'number?' },
    act: async ({ accounts }, given) => {
      const buckets = given['buckets'] as number | undefined;
      if (buckets !== undefined && buckets > mostBuckets) {
        throw new AccountRefusal(`a project may have at most ${mostBuckets} buckets`);
      }
      await accounts.setBucketQuota(text(given, 'project'), buckets);
    },
  },
};

/** Does what a command says. A refusal is an answer; only what nobody foresaw is thrown. */
export async function administer(
  rooms: AdministrationRooms,
  request: AdministrationRequest,
): Promise<AdministrationAnswer> {
  try {
    const { command, ...given } = request;
    const found = Object.hasOwn(administrationCommands, command) ? administrationCommands[command] : undefined;
    if (found === undefined) {
      const known = Object.keys(administrationCommands).join(', ');
      throw new AccountRefusal(`there is no command ${JSON.stringify(command)}; there is ${known}`);
    }
    check(command, found.takes, given);
    return { ok: true, result: (await found.act(rooms, given)) ?? null };
  } catch (error) {
    if (error instanceof AccountRefusal) return { ok: false, error: error.message };
    if (error instanceof S3Error) return { ok: false, error: `${error.code}: ${error.message}` };
    throw error;
  }
}

/** @throws AccountRefusal that names what is missing, too much or of another kind */
function check(command: string, takes: Readonly<Record<string, Kind>>, given: Given): void {
  for (const [name, kind] of Object.entries(takes)) {
    const value = given[name];
    if (value === undefined && kind.endsWith('?')) continue;
    if (!isOf(kind, value)) throw new AccountRefusal(`${command}: ${name} must be ${words[kind]}`);
  }
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(takes, name));
  if (unknown.length > 0) throw new AccountRefusal(`${command} does not take ${unknown.join(', ')}`);
}

const words: Readonly<Record<Kind, string>> = {
  text: 'a text',
  'text?': 'a text',
  'number?': 'a whole number, not below 0',
  'flag?': 'true or false',
};

function isOf(kind: Kind, value: unknown): boolean {
  if (kind === 'flag?') return typeof value === 'boolean';
  if (kind === 'number?') return Number.isSafeInteger(value) && (value as number) >= 0;
  return typeof value === 'string' && value !== '';
}

function text(given: Given, name: string): string {
  return given[name] as string;
}

/** Those that are given. */
function some<Result>(given: Given, ...names: readonly string[]): Partial<Result> {
  const present = names.filter((name) => given[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, given[name]])) as Partial<Result>;
}

function privilege(granted: boolean): AdministrationCommand['act'] {
  return ({ accounts }, given) =>
    accounts.setPrivilege(text(given, 'user'), parsePrivilege(text(given, 'privilege')), granted);
}
