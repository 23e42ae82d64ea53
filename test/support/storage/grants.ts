import type { Grant, Grantee, Owner } from '@aws-sdk/client-s3';

/** Returns the grants of an ACL in short, as grantee and permission: those of its owner first, then the others in order. */
export function ownerFirst({
  Owner,
  Grants = [],
}: {
  Owner?: Owner | undefined;
  Grants?: Grant[] | undefined;
}): string[] {
  const own = Grants.filter(({ Grantee }) => Grantee!.ID === Owner?.ID);
  return [...own, ...Grants.filter((grant) => !own.includes(grant))].map(
    ({ Grantee, Permission }) => `${Grantee!.URI ?? Grantee!.ID!} ${Permission!}`,
  );
}

const groups = ['AllUsers', 'AuthenticatedUsers'].map((name) => `http://acs.amazonaws.com/groups/global/${name}`);

/** Every grant there is to both groups and to projects, in the order that ACLs are listed in. */
export function everyGrant(projects: readonly string[]): readonly Grant[] {
  const grantees: readonly Grantee[] = [
    ...groups.map((URI) => ({ Type: 'Group' as const, URI })),
    ...projects.toSorted().map((ID) => ({ Type: 'CanonicalUser' as const, ID })),
  ];
  const permissions = ['READ', 'WRITE', 'READ_ACP', 'WRITE_ACP', 'FULL_CONTROL'] as const;
  return grantees.flatMap((Grantee) => permissions.map((Permission) => ({ Grantee, Permission })));
}

/** Grants in short, as they are listed. */
export function inShort(grants: readonly Grant[] = []): readonly string[] {
  return grants.map(({ Grantee, Permission }) => `${Grantee!.URI ?? Grantee!.ID!} ${Permission!}`);
}
