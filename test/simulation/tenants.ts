import type { ProjectDeclaration } from '../../shared/accounts/accounts.ts';
import type { Key } from '../support/clients/signer.ts';

/** A client with an access key, in a project of that name. */
export interface Tenant {
  readonly name: string;
  readonly key: Key;
}

const tenant = (name: string): Tenant => ({
  name,
  key: { accessKeyId: `KEYOF${name.toUpperCase()}`, secretAccessKey: `secret of ${name}` },
});

/** The owner of most buckets; whom policies grant something; who may weaken no lock; who has no rights to anything. */
export const tenants = {
  owner: tenant('owner'),
  guest: tenant('guest'),
  limited: tenant('limited'),
  stranger: tenant('stranger'),
} as const;

/** The accounts of all tenants. */
export const declarations: readonly ProjectDeclaration[] = Object.values(tenants).map(({ name, key }) => ({
  project: `${name}@customer-of-${name}`,
  id: name,
  displayName: name,
  users: [{ name: 'user', keys: [key] }],
}));
