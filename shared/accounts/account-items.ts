import { createHash } from 'node:crypto';
import type { Attributes, Change, ItemKey, KeyValueTable, Item } from '../ports/key-value-table.ts';
import { privileges, type Privilege, type Project } from '../access/identity.ts';
import { asRead } from '../storage/table/optimistic-write.ts';
import { partitionPages } from '../storage/table/pages.ts';
import type { KeyUse } from './key-uses.ts';

/** The properties of everything that can be suspended, as stored. Times are milliseconds since the epoch. */
interface Stored {
  readonly created: number;
  readonly suspended: boolean;
}

export interface CustomerRecord extends Stored {
  readonly customer: string;
}

export interface ProjectRecord extends Stored {
  /** The canonical id. */
  readonly id: string;
  /** `project@customer` */
  readonly email: string;
  readonly customer: string;
  readonly displayName: string;
  /** 12 digits: account-numbers.ts. Undefined: nobody has asked for it yet. */
  readonly accountNumber: string | undefined;
  /** The name of the user who is root of the account. Undefined: none. */
  readonly root: string | undefined;
  /** The maximum number of its buckets; undefined: the deployment's limit applies. */
  readonly bucketQuota: number | undefined;
}

export interface UserRecord extends Stored {
  /** `project:user@customer` */
  readonly user: string;
  readonly name: string;
  readonly project: ProjectRecord;
  readonly privileges: readonly Privilege[];
}

export interface KeyRecord extends Stored {
  readonly accessKeyId: string;
  /** `project:user@customer` */
  readonly user: string;
  /** The expiry time; undefined: it does not expire. */
  readonly until: number | undefined;
  /** Its last use; undefined: none is known. */
  readonly used?: KeyUse | undefined;
}

/** A part of a list: so many entries after a place, or from the beginning. */
export interface Part {
  readonly after?: string | undefined;
  readonly limit: number;
}

export function decodeProject(id: string, item: Attributes): Project {
  const { email, displayName, accountNumber, root, bucketQuota } = decodeProjectRecord(id, item);
  return { id, email, displayName, accountNumber, root, bucketQuota };
}

export function decodeProjectRecord(id: string, item: Attributes): ProjectRecord {
  return {
    id,
    email: item['email'] as string,
    customer: item['customer'] as string,
    displayName: item['displayName'] as string,
    accountNumber: item['number'] as string | undefined,
    root: item['root'] as string | undefined,
    bucketQuota: item['buckets'] as number | undefined,
    ...decodeStored(item),
  };
}

export function decodeStored(item: Attributes): Stored {
  return { created: (item['created'] as number | undefined) ?? 0, suspended: item['suspended'] === true };
}

/**
 * Returns the id of a user: the stored one or, for users created by earlier versions or by declarations, a hash of
 * project, name and creation time. So a user never gets the id of an earlier user of the same name.
 */
export function decodeUserId(project: string, name: string, item: Attributes): string {
  const own = item['id'];
  if (typeof own === 'string') return own;
  return userId(
    createHash('sha256')
      .update(JSON.stringify([project, name, decodeStored(item).created]))
      .digest(),
  );
}

/** Returns the path of a user, group, policy or role in ARNs. */
export function pathOf(item: Attributes): string {
  return (item['path'] as string | undefined) ?? '/';
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The minimum number of random bytes for a user id. */
export const userIdBytes = 18;

/** Returns the prefix, of a user unless another is given, and 18 capital letters and digits. */
export function userId(bytes: Uint8Array, prefix = 'USR'): string {
  return `${prefix}${Array.from(bytes.subarray(0, userIdBytes), (byte) => letters[byte & 31]).join('')}`;
}

/** Returns a user's privileges: all but the revoked ones. */
export function decodePrivileges(item: Attributes): readonly Privilege[] {
  const lacks = item['lacks'] as ReadonlySet<string> | undefined;
  return lacks === undefined ? privileges : privileges.filter((one) => !lacks.has(one));
}

/** Returns all items of a partition under a prefix. */
export async function everyItem(table: KeyValueTable, pk: string, prefix = ''): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const page of partitionPages(table, pk, { prefix })) items.push(...page);
  return items;
}

/** Returns the change of an item, on condition that it is still as it was read. */
export function revised(key: ItemKey, before: Attributes, put: Attributes): Change {
  return { key, put, expect: asRead(before) };
}

/** Returns the removal of an item, on condition that it is still as it was read. */
export function removed(key: ItemKey, before: Attributes): Change {
  return { key, delete: true, expect: asRead(before) };
}
