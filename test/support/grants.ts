import type { Grant, Owner } from '@aws-sdk/client-s3';

/** The grants of an ACL in short, who and what: those of its owner, then the others as they are listed. */
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
