import { invalidArgument, S3Error } from '../errors/s3-error.ts';
import type { Fields } from '../http/message.ts';
import { cannedAcl, groupOf, isCannedAcl, withoutRepeats } from './acl.ts';
import type { Acl, CannedAcl, Grantee, Permission } from './acl.ts';
import type { Projects } from './identity.ts';

/** A grantee as a client names it. */
interface NamedGrantee {
  readonly by: 'id' | 'emailAddress' | 'uri';
  readonly name: string;
}

export interface NamedGrant {
  readonly grantee: NamedGrantee;
  readonly permission: Permission;
}

/** An ACL as requested, in header fields or in a document. */
export type AskedAcl = { readonly canned: CannedAcl } | { readonly grants: readonly NamedGrant[] };

/** The deployment's rules for ACLs. */
export interface AclRules {
  /** The deployment's URI for the group of all users. */
  readonly allUsersGroupUri: string;
  readonly maximumGrants: number;
}

/** An ACL whose grantees are resolved. Takes the owners, by canonical id, once they are known. */
export type ResolvedAcl = (owner: string, bucketOwner: string) => Acl;

const grantHeaders = {
  'x-amz-grant-read': 'READ',
  'x-amz-grant-write': 'WRITE',
  'x-amz-grant-read-acp': 'READ_ACP',
  'x-amz-grant-write-acp': 'WRITE_ACP',
  'x-amz-grant-full-control': 'FULL_CONTROL',
} as const satisfies Readonly<Record<string, Permission>>;

const prefix = 'x-amz-grant-';

/**
 * Reads `x-amz-acl` and `x-amz-grant-*`: https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectAcl.html
 * @throws S3Error InvalidArgument (unknown canned ACL or header, malformed list), InvalidRequest (both forms)
 */
export function parseAclHeaders(fields: Fields): AskedAcl | undefined {
  const canned = fields.get('x-amz-acl');
  const headers = [...fields.names()].filter((name) => name.startsWith(prefix));
  if (canned === undefined) {
    return headers.length === 0 ? undefined : { grants: headers.flatMap((name) => parseGrants(name, fields)) };
  }
  if (headers.length > 0) {
    throw new S3Error('InvalidRequest', {
      message: 'Specifying both Canned ACLs and Header Grants is not allowed',
    });
  }
  if (!isCannedAcl(canned)) throw invalidArgument('x-amz-acl', canned);
  return { canned };
}

function parseGrants(header: string, fields: Fields): readonly NamedGrant[] {
  const value = fields.get(header)!;
  if (!Object.hasOwn(grantHeaders, header))
    throw invalidArgument(header, value, 'The header does not name a permission.');
  const permission = grantHeaders[header as keyof typeof grantHeaders];
  return parseGrantees(header, value).map((grantee) => ({ grantee, permission }));
}

const ways = { id: 'id', emailaddress: 'emailAddress', uri: 'uri' } as const;

/** Parses `uri="…", id="…", emailAddress=…`. The quotes are optional. */
function parseGrantees(header: string, value: string): readonly NamedGrantee[] {
  const grantee = /\s*(id|emailAddress|uri)\s*=\s*(?:"([^"]*)"|([^",\s]+))\s*(,|$)/iy;
  const found: NamedGrantee[] = [];
  for (let more = true; more;) {
    const match = grantee.exec(value);
    if (match === null) throw invalidArgument(header, value, 'The list of grantees is not well-formed.');
    const [, way, quoted, bare, separator] = match;
    found.push({ by: ways[way!.toLowerCase() as keyof typeof ways], name: quoted ?? bare! });
    more = separator === ',';
  }
  return found;
}

/**
 * Looks up the grantees. E-mail addresses become canonical ids.
 * @throws S3Error InvalidArgument (unknown id or group), UnresolvableGrantByEmailAddress, InvalidRequest (too many
 *   grants)
 */
export async function resolveAcl(
  asked: AskedAcl,
  projects: Projects,
  { allUsersGroupUri, maximumGrants }: AclRules,
): Promise<ResolvedAcl> {
  if ('canned' in asked) return (owner, bucketOwner) => cannedAcl(asked.canned, owner, bucketOwner);
  if (asked.grants.length > maximumGrants) {
    throw new S3Error('InvalidRequest', {
      message: `An access control list may have at most ${maximumGrants} grants.`,
    });
  }
  const acl = await Promise.all(
    asked.grants.map(async ({ grantee, permission }) => ({
      grantee: await resolve(grantee, projects, allUsersGroupUri),
      permission,
    })),
  );
  return () => withoutRepeats(acl);
}

async function resolve({ by, name }: NamedGrantee, projects: Projects, allUsersGroupUri: string): Promise<Grantee> {
  switch (by) {
    case 'uri': {
      const group = groupOf(name, allUsersGroupUri);
      if (group === undefined) throw invalidArgument('Group/URI', name, 'Invalid group uri');
      return { group };
    }
    case 'id': {
      const project = await projects.project(name);
      if (project === undefined) throw invalidArgument('CanonicalUser/ID', name, 'Invalid id');
      return { project: project.id };
    }
    case 'emailAddress': {
      const project = await projects.byEmail(name);
      if (project === undefined) {
        throw new S3Error('UnresolvableGrantByEmailAddress', {
          details: { EmailAddress: name },
        });
      }
      return { project: project.id };
    }
  }
}
