import type { XmlElement } from '../../../shared/documents/element.ts';

/** Permissions, by the headers that grant them. */
const headers: Readonly<Record<string, string>> = {
  READ: 'x-amz-grant-read',
  WRITE: 'x-amz-grant-write',
  READ_ACP: 'x-amz-grant-read-acp',
  WRITE_ACP: 'x-amz-grant-write-acp',
  FULL_CONTROL: 'x-amz-grant-full-control',
};

interface WrittenGrant {
  readonly permission: string;
  readonly uri: string | undefined;
  readonly id: string | undefined;
}

/**
 * Returns the headers that grant what an ACL grants to groups, and everything to an owner: accounts of another store are nobody.
 * @param owner the id at the store that gets the headers
 */
export function grantFields(
  acl: XmlElement,
  owner: string,
): {
  readonly fields: Readonly<Record<string, string>>;
  /** Grants to accounts, besides that to its owner. */ readonly others: number;
} {
  const grants: Record<string, readonly string[]> = { [headers['FULL_CONTROL']!]: [`id="${owner}"`] };
  for (const { uri, permission } of grantsIn(acl)) {
    const field = headers[permission];
    if (uri !== undefined && field !== undefined) grants[field] = [...(grants[field] ?? []), `uri="${uri}"`];
  }
  return {
    fields: Object.fromEntries(Object.entries(grants).map(([field, to]) => [field, to.join(', ')])),
    others: grantsIn(acl).filter(({ uri, id }) => uri === undefined && id !== ownerOf(acl)).length,
  };
}

/** Returns what an ACL grants to groups, in an order. */
export function groupsOf(acl: XmlElement): readonly string[] {
  return grantsIn(acl)
    .filter(({ uri }) => uri !== undefined)
    .map(({ uri, permission }) => `${uri} ${permission}`)
    .toSorted();
}

/** Returns the id of the owner in an ACL. */
export function ownerOf(acl: XmlElement): string {
  return acl.optional('Owner')?.optional('ID')?.text ?? '';
}

function grantsIn(acl: XmlElement): readonly WrittenGrant[] {
  return acl
    .one('AccessControlList')
    .many('Grant')
    .map((grant) => {
      const grantee = grant.one('Grantee');
      return {
        permission: grant.one('Permission').text,
        uri: grantee.optional('URI')?.text,
        id: grantee.optional('ID')?.text,
      };
    });
}
