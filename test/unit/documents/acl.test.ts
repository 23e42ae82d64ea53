import { describe, expect, it } from 'vitest';
import { shownAcl, writtenAcl, type ShownAcl } from '../../../shared/documents/acl.ts';
import { readDocument } from '../../../shared/xml/reader.ts';
import { codeOf, golden, namespace } from '../xml/golden.ts';

const read = (text: string) => readDocument(text, writtenAcl);
const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
const user = `<Grantee ${xsi} xsi:type="CanonicalUser"><ID>u</ID><DisplayName>n</DisplayName></Grantee>`;
const grant = (grantee = user, permission = 'READ') =>
  `<Grant>${grantee}<Permission>${permission}</Permission></Grant>`;
const owner = '<Owner><ID>o</ID><DisplayName>of</DisplayName></Owner>';
const policy = (grants: string, of = owner, root = 'AccessControlPolicy') =>
  `<${root}>${of}<AccessControlList>${grants}</AccessControlList></${root}>`;

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketAcl.html#API_PutBucketAcl_Examples */
describe('AccessControlPolicy', () => {
  it('is written', () => {
    const grants: ShownAcl['grants'] = [
      { grantee: { by: 'id', name: 'u', displayName: 'n' }, permission: 'FULL_CONTROL' },
      { grantee: { by: 'uri', name: 'http://acs.amazonaws.com/groups/global/AllUsers' }, permission: 'READ' },
    ];
    expect(shownAcl.write({ owner: { id: 'o', displayName: 'of' }, grants }, namespace)).toBe(golden`
      <AccessControlPolicy xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Owner><ID>o</ID><DisplayName>of</DisplayName></Owner>
        <AccessControlList>
          <Grant>
            <Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser">
              <ID>u</ID><DisplayName>n</DisplayName>
            </Grantee>
            <Permission>FULL_CONTROL</Permission>
          </Grant>
          <Grant>
            <Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="Group">
              <URI>http://acs.amazonaws.com/groups/global/AllUsers</URI>
            </Grantee>
            <Permission>READ</Permission>
          </Grant>
        </AccessControlList>
      </AccessControlPolicy>`);
  });

  it('is read as it is written', () => {
    const acl: ShownAcl = {
      owner: { id: 'o', displayName: 'of' },
      grants: [{ grantee: { by: 'id', name: 'u', displayName: 'n' }, permission: 'WRITE_ACP' }],
    };
    expect(read(shownAcl.write(acl, namespace))).toEqual({
      owner: { id: 'o' },
      grants: [{ grantee: { by: 'id', name: 'u' }, permission: 'WRITE_ACP' }],
    });
  });

  it.each([
    ['CanonicalUser', '<ID>u</ID>', { by: 'id', name: 'u' }],
    ['AmazonCustomerByEmail', '<EmailAddress>p@c</EmailAddress>', { by: 'emailAddress', name: 'p@c' }],
    ['Group', '<URI>urn:g</URI>', { by: 'uri', name: 'urn:g' }],
  ])('is read with a grantee of the type %s', (type, content, grantee) => {
    const written = `<Grantee ${xsi} xsi:type="${type}">${content}</Grantee>`;
    expect(read(policy(grant(written))).grants).toEqual([{ grantee, permission: 'READ' }]);
  });

  it('is read without grants, in any namespace, with an owner who has no name', () => {
    const text = `<AccessControlPolicy xmlns="${namespace}"><Owner><ID>o</ID></Owner><AccessControlList/></AccessControlPolicy>`;
    expect(read(text)).toEqual({ owner: { id: 'o' }, grants: [] });
  });

  it.each([
    ['another root', policy(grant(), owner, 'AccessControl')],
    ['no owner', policy(grant(), '')],
    ['an owner without an id', policy(grant(), '<Owner><DisplayName>n</DisplayName></Owner>')],
    ['no list', `<AccessControlPolicy>${owner}</AccessControlPolicy>`],
    ['two lists', policy(`</AccessControlList><AccessControlList>`)],
    ['an unknown permission', policy(grant(user, 'ALL'))],
    ['a permission in lower case', policy(grant(user, 'read'))],
    ['no permission', policy(`<Grant>${user}</Grant>`)],
    ['two permissions', policy(`<Grant>${user}<Permission>READ</Permission><Permission>WRITE</Permission></Grant>`)],
    ['no grantee', policy('<Grant><Permission>READ</Permission></Grant>')],
    ['a grantee without a type', policy(grant('<Grantee><ID>u</ID></Grantee>'))],
    ['a grantee of an unknown type', policy(grant(`<Grantee ${xsi} xsi:type="User"><ID>u</ID></Grantee>`))],
    ['a grantee of an inherited type', policy(grant(`<Grantee ${xsi} xsi:type="constructor"><ID>u</ID></Grantee>`))],
    ['a group by id', policy(grant(`<Grantee ${xsi} xsi:type="Group"><ID>u</ID></Grantee>`))],
    [
      'a grantee by two names',
      policy(grant(`<Grantee ${xsi} xsi:type="CanonicalUser"><ID>u</ID><URI>urn:g</URI></Grantee>`)),
    ],
    ['something else', policy('<Other/>')],
  ])('is refused with %s', (_, text) => {
    expect(codeOf(() => read(text))).toBe('MalformedACLError');
  });

  it('is refused if it is no XML', () => {
    expect(codeOf(() => read('<AccessControlPolicy>'))).toBe('MalformedXML');
    expect(codeOf(() => read('public-read'))).toBe('MalformedXML');
  });
});
