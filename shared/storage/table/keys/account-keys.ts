import type { ItemKey } from '../../../ports/key-value-table.ts';

const only = '-';

/** The prefixes of sort keys in a project's partition: of all users, groups, policies, roles, identity providers and keys, or of the keys of a user. */
export const accountPrefix = {
  /** Of the projects in a customer's partition. */
  projects: 'project/',
  users: 'user/',
  groups: 'group/',
  policies: 'policy/',
  roles: 'role/',
  providers: 'provider/',
  keys: 'key/',
  keysOf: (user: string): string => `key/${user}:`,
} as const;

/** The keys of the items of customers, projects, users, access keys and operators. */
export const accountKey = {
  customer: (name: string): ItemKey => ({ pk: `customer/${name}`, sk: only }),
  /** A customer in the list of all customers. */
  listedCustomer: (name: string): ItemKey => ({ pk: 'customers', sk: name }),
  /** A project in the list of its customer. */
  customersProject: (customer: string, project: string): ItemKey => ({
    pk: `customer/${customer}`,
    sk: accountPrefix.projects + project,
  }),
  project: (id: string): ItemKey => ({ pk: `account/${id}`, sk: only }),
  user: (project: string, name: string): ItemKey => ({ pk: `account/${project}`, sk: `${accountPrefix.users}${name}` }),
  /** A group by its id: its name may change. */
  group: (project: string, id: string): ItemKey => ({ pk: `account/${project}`, sk: accountPrefix.groups + id }),
  /** A managed policy of a project's own. */
  policy: (project: string, name: string): ItemKey => ({ pk: `account/${project}`, sk: accountPrefix.policies + name }),
  role: (project: string, name: string): ItemKey => ({ pk: `account/${project}`, sk: accountPrefix.roles + name }),
  /** An OpenID Connect provider by its URL without the scheme. */
  provider: (project: string, name: string): ItemKey => ({
    pk: `account/${project}`,
    sk: accountPrefix.providers + name,
  }),
  /** An access key in the list of its user. */
  usersKey: (project: string, user: string, id: string): ItemKey => ({
    pk: `account/${project}`,
    sk: accountPrefix.keysOf(user) + id,
  }),
  /** A project by its account number. */
  number: (number: string): ItemKey => ({ pk: `account-number/${number}`, sk: only }),
  email: (email: string): ItemKey => ({ pk: `email/${email}`, sk: only }),
  accessKey: (id: string): ItemKey => ({ pk: `key/${id}`, sk: only }),
  /** The last use of an access key or a role, by its id. */
  lastUse: (id: string): ItemKey => ({ pk: `used/${id}`, sk: only }),
  operator: (name: string): ItemKey => ({ pk: 'operators', sk: name }),
  /** A request of an operator, by its `Idempotency-Key`. */
  idempotentRequest: (operator: string, key: string): ItemKey => ({ pk: `idempotent/${operator}`, sk: key }),
  /** An operator by the SHA-256 of the token, in hexadecimal. */
  operatorsToken: (hash: string): ItemKey => ({ pk: `operator/${hash}`, sk: only }),
} as const;

/** Parses keys: the inverse of {@link accountKey}. */
export const accountKeyParts = {
  isProject: ({ pk, sk }: ItemKey): boolean => pk.startsWith('account/') && sk === only,
  /** Returns the name of a user. */
  user: ({ sk }: ItemKey): string => sk.slice(accountPrefix.users.length),
  /** Returns the name of a user, policy, role or provider, or the id of a group. */
  named: ({ sk }: ItemKey): string => sk.slice(sk.indexOf('/') + 1),
  /** Returns the id of a user's access key. User names contain no colon; key ids may. */
  usersKey: ({ sk }: ItemKey): string => sk.slice(sk.indexOf(':') + 1),
  /** Returns the name of a project in the list of its customer. */
  customersProject: ({ sk }: ItemKey): string => sk.slice(accountPrefix.projects.length),
} as const;
