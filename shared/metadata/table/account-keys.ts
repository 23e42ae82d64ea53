import type { ItemKey } from '../../ports/key-value-table.ts';

const only = '-';

/** What sort keys begin with in a project's partition: all users, or all keys of a user. */
export const accountPrefix = {
  users: 'user/',
  keysOf: (user: string): string => `key/${user}:`,
} as const;

/** The names of the items of customers, projects, users and keys. */
export const accountKey = {
  customer: (name: string): ItemKey => ({ pk: `customer/${name}`, sk: only }),
  /** A customer among all of them. */
  listedCustomer: (name: string): ItemKey => ({ pk: 'customers', sk: name }),
  /** A project among those of its customer. */
  customersProject: (customer: string, project: string): ItemKey => ({
    pk: `customer/${customer}`,
    sk: `project/${project}`,
  }),
  project: (id: string): ItemKey => ({ pk: `account/${id}`, sk: only }),
  user: (project: string, name: string): ItemKey => ({ pk: `account/${project}`, sk: `${accountPrefix.users}${name}` }),
  /** A key among those of its user. */
  usersKey: (project: string, user: string, id: string): ItemKey => ({
    pk: `account/${project}`,
    sk: accountPrefix.keysOf(user) + id,
  }),
  email: (email: string): ItemKey => ({ pk: `email/${email}`, sk: only }),
  accessKey: (id: string): ItemKey => ({ pk: `key/${id}`, sk: only }),
} as const;

/** Reads back what keys were built from. */
export const accountKeyParts = {
  /** The name of a user. */
  user: ({ sk }: ItemKey): string => sk.slice(accountPrefix.users.length),
  /** The id of a user's key: names of users have no colon, ids of keys may have one. */
  usersKey: ({ sk }: ItemKey): string => sk.slice(sk.indexOf(':') + 1),
} as const;
