import type { XmlElement } from './element.ts';
import { owner, writtenOwner } from './owner.ts';
import { documentType, elements, list, one, oneOf, type Content, type Field, type ValueOf } from './schema.ts';
import { escapeXml, tag } from './text.ts';

/** A project by its id or address, or a group by its URI. */
export interface Grantee {
  readonly by: 'id' | 'emailAddress' | 'uri';
  readonly name: string;
  /** Of a project, in responses; that of a request is ignored. */
  readonly displayName?: string;
}

/** The xsi:type of a grantee, and the element that identifies it. */
const kinds = {
  id: ['CanonicalUser', 'ID'],
  emailAddress: ['AmazonCustomerByEmail', 'EmailAddress'],
  uri: ['Group', 'URI'],
} as const;
const names = Object.keys(kinds) as readonly Grantee['by'][];

function readGrantee(element: XmlElement): Grantee {
  const type = element.attributes.get('type');
  const by = names.find((name) => kinds[name][0] === type);
  if (by === undefined) {
    throw element.fault('the xsi:type of a Grantee must be CanonicalUser, AmazonCustomerByEmail or Group');
  }
  const [, named] = kinds[by];
  element.onlyChildren((name) => name === named || name === 'DisplayName');
  const displayName = element.isStrict ? undefined : element.optional('DisplayName')?.text;
  return { by, name: element.one(named).text, ...(displayName !== undefined && { displayName }) };
}

export const grantee: Field<Grantee> = {
  name: 'Grantee',
  read: (parent) => readGrantee(parent.one('Grantee')),
  write: ({ by, name, displayName }) => {
    const [type, named] = kinds[by];
    const shown = displayName === undefined ? '' : tag('DisplayName', escapeXml(displayName));
    const typed = ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="${type}"`;
    return tag('Grantee', tag(named, escapeXml(name)) + shown, typed);
  },
};

const grant = elements({
  grantee,
  permission: one('Permission', oneOf('READ', 'WRITE', 'READ_ACP', 'WRITE_ACP', 'FULL_CONTROL')),
});
export type WrittenGrant = ValueOf<typeof grant>;

const policyOf = <Owner>(its: Content<Owner>) =>
  documentType(
    'AccessControlPolicy',
    elements({ owner: one('Owner', its), grants: one('AccessControlList', list('Grant', grant)) }),
    'MalformedACLError',
  );

/** An ACL as sent by a client: https://docs.aws.amazon.com/AmazonS3/latest/API/API_AccessControlPolicy.html */
export const writtenAcl = policyOf(writtenOwner);
export type WrittenAcl = ValueOf<typeof writtenAcl>;

/** An ACL as shown in responses. */
export const shownAcl = policyOf(owner);
export type ShownAcl = ValueOf<typeof shownAcl>;
