import { ownerElements, type Owner } from './owner.ts';
import { readDocument, type XmlElement, type XmlSource } from './reader.ts';
import { document, element, Markup } from './writer.ts';

const permissions = ['READ', 'WRITE', 'READ_ACP', 'WRITE_ACP', 'FULL_CONTROL'] as const;

/** A grant as written in a document. */
interface WrittenGrant {
  readonly grantee: { readonly by: 'id' | 'emailAddress' | 'uri'; readonly name: string };
  readonly permission: (typeof permissions)[number];
}

/** `<AccessControlPolicy>` as sent by a client. */
export interface WrittenAcl {
  /** The owner's canonical id according to the document. */
  readonly owner: string;
  readonly grants: readonly WrittenGrant[];
}

/**
 * Reads the body of PutBucketAcl and PutObjectAcl: https://docs.aws.amazon.com/AmazonS3/latest/API/API_AccessControlPolicy.html
 * @throws S3Error MalformedXML (not well-formed), MalformedACLError
 */
export function readAccessControlPolicy(body: XmlSource): WrittenAcl {
  const policy = readDocument(body, 'AccessControlPolicy', 'MalformedACLError').onlyChildren(
    'Owner',
    'AccessControlList',
  );
  return {
    owner: policy.one('Owner').onlyChildren('ID', 'DisplayName').one('ID').text,
    grants: policy.one('AccessControlList').onlyChildren('Grant').children.map(readGrant),
  };
}

function readGrant(grant: XmlElement): WrittenGrant {
  grant.onlyChildren('Grantee', 'Permission');
  return {
    grantee: readGrantee(grant.one('Grantee')),
    permission: grant.one('Permission').choice(...permissions),
  };
}

/** The element that identifies a grantee, by its xsi:type. */
const kinds = {
  CanonicalUser: { by: 'id', named: 'ID' },
  AmazonCustomerByEmail: { by: 'emailAddress', named: 'EmailAddress' },
  Group: { by: 'uri', named: 'URI' },
} as const;

function readGrantee(grantee: XmlElement): WrittenGrant['grantee'] {
  const type = grantee.attributes.get('type') ?? '';
  if (!Object.hasOwn(kinds, type))
    throw grantee.fault('the xsi:type of a Grantee must be CanonicalUser, AmazonCustomerByEmail or Group');
  const { by, named } = kinds[type as keyof typeof kinds];
  grantee.onlyChildren(named, 'DisplayName');
  return { by, name: grantee.one(named).text };
}

/** A grant as shown in a response. */
export interface ShownGrant {
  readonly grantee: Owner | { readonly uri: string };
  readonly permission: string;
}

const schemaInstance = 'http://www.w3.org/2001/XMLSchema-instance';

/** The steps of writing a grant: microseconds, as an event-loop budget counts them. */
const stepsPerGrant = 4;

/** Writes grants, yielding the steps taken, for {@link accessControlPolicy}. */
export function* aclWriting(grants: readonly ShownGrant[]): Generator<number, readonly Markup[], void> {
  const written: Markup[] = [];
  for (const grant of grants) {
    written.push(element('Grant', grantElements(grant)));
    yield stepsPerGrant;
  }
  return written;
}

/** Returns the response body of GetBucketAcl and GetObjectAcl. */
export function accessControlPolicy(owner: Owner, grants: readonly Markup[], namespace: string): string {
  return document('AccessControlPolicy', namespace, {
    Owner: ownerElements(owner),
    AccessControlList: new Markup(grants.map(({ xml }) => xml).join('')),
  });
}

function grantElements({ grantee, permission }: ShownGrant): readonly Markup[] {
  const [type, content] =
    'uri' in grantee ? ['Group', { URI: grantee.uri }] : ['CanonicalUser', ownerElements(grantee)];
  return [
    element('Grantee', content, { 'xmlns:xsi': schemaInstance, 'xsi:type': type }),
    element('Permission', permission),
  ];
}
