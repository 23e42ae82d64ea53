import { describe, expect, it } from 'vitest';
import { parseAclHeaders, resolveAcl, type NamedGrant } from '../../../shared/access/acl-headers.ts';
import type { Projects } from '../../../shared/access/identity.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { Fields } from '../../../shared/http/message.ts';

const parse = (...fields: readonly (readonly [string, string])[]) => parseAclHeaders(new Fields(fields));

function codeOf(act: () => unknown): string {
  try {
    return JSON.stringify(act());
  } catch (error) {
    return error instanceof S3Error ? error.code : String(error);
  }
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectAcl.html#API_PutObjectAcl_RequestSyntax */
describe('the header fields of an ACL', () => {
  it('ask for nothing if there are none', () => {
    expect(parse(['x-amz-date', 'x'], ['content-type', 'public-read'])).toBeUndefined();
  });

  it('name a canned ACL', () => {
    expect(parse(['x-amz-acl', 'public-read'])).toEqual({ canned: 'public-read' });
  });

  it.each([
    ['x-amz-grant-read', 'READ'],
    ['x-amz-grant-write', 'WRITE'],
    ['x-amz-grant-read-acp', 'READ_ACP'],
    ['x-amz-grant-write-acp', 'WRITE_ACP'],
    ['x-amz-grant-full-control', 'FULL_CONTROL'],
  ])('%s grants %s', (name, permission) => {
    expect(parse([name, 'id=a'])).toEqual({ grants: [{ grantee: { by: 'id', name: 'a' }, permission }] });
  });

  it.each([
    ['id="a"', [['id', 'a']]],
    ['id=a', [['id', 'a']]],
    [
      '  id = "a" , uri="u" ',
      [
        ['id', 'a'],
        ['uri', 'u'],
      ],
    ],
    ['emailAddress="project@customer"', [['emailAddress', 'project@customer']]],
    ['EMAILADDRESS=project@customer', [['emailAddress', 'project@customer']]],
    [
      'id="a, b",id=c',
      [
        ['id', 'a, b'],
        ['id', 'c'],
      ],
    ],
    ['id=""', [['id', '']]],
    [
      'uri="http://acs.amazonaws.com/groups/global/AllUsers"',
      [['uri', 'http://acs.amazonaws.com/groups/global/AllUsers']],
    ],
  ])('%s names its grantees', (value, expected) => {
    const asked = parse(['x-amz-grant-read', value]) as { readonly grants: readonly NamedGrant[] };
    expect(asked.grants.map(({ grantee }) => [grantee.by, grantee.name])).toEqual(expected);
  });

  it.each(['', 'id', 'id=', 'name=a', 'id="a', 'id=a,', ',id=a', 'id=a id=b', 'id="a"b'])(
    'are refused: a list of grantees %j',
    (value) => {
      expect(codeOf(() => parse(['x-amz-grant-read', value]))).toBe('InvalidArgument');
    },
  );

  it.each([
    [[['x-amz-acl', 'publicread']], 'InvalidArgument'],
    [[['x-amz-acl', '']], 'InvalidArgument'],
    [
      [
        ['x-amz-acl', 'private'],
        ['x-amz-acl', 'private'],
      ],
      'InvalidArgument',
    ],
    [[['x-amz-grant-everything', 'id=a']], 'InvalidArgument'],
    [[['x-amz-grant-constructor', 'id=a']], 'InvalidArgument'],
    [
      [
        ['x-amz-acl', 'private'],
        ['x-amz-grant-read', 'id=a'],
      ],
      'InvalidRequest',
    ],
  ] as const)('are refused: %j', (fields, code) => {
    expect(codeOf(() => parse(...fields))).toBe(code);
  });
});

describe('grantees', () => {
  const one = { id: 'one-id', email: 'one@customer', displayName: 'one' };
  const projects = {
    project: async (id: string) => (id === one.id ? one : undefined),
    byEmail: async (email: string) => (email === one.email ? one : undefined),
  } as Projects;

  const rules = { allUsersGroupUri: 'urn:all', maximumGrants: 3 };
  const resolved = async (by: NamedGrant['grantee']['by'], ...names: readonly string[]) => {
    const grants = names.map((name) => ({ grantee: { by, name }, permission: 'READ' as const }));
    try {
      return (await resolveAcl({ grants }, projects, rules))('owner', 'bucket-owner').map(({ grantee }) => grantee);
    } catch (error) {
      return (error as S3Error).code;
    }
  };

  it('are found by id, e-mail form and group', async () => {
    expect(await resolved('id', 'one-id')).toEqual([{ project: 'one-id' }]);
    expect(await resolved('emailAddress', 'one@customer')).toEqual([{ project: 'one-id' }]);
    expect(await resolved('uri', 'urn:all')).toEqual([{ group: 'AllUsers' }]);
  });

  it.each([
    ['id', 'another-id', 'InvalidArgument'],
    ['id', '', 'InvalidArgument'],
    ['id', 'one@customer', 'InvalidArgument'],
    ['id', 'x'.repeat(2000), 'InvalidArgument'],
    ['emailAddress', 'two@customer', 'UnresolvableGrantByEmailAddress'],
    ['emailAddress', '', 'UnresolvableGrantByEmailAddress'],
    ['emailAddress', 'x'.repeat(2000), 'UnresolvableGrantByEmailAddress'],
    ['uri', 'http://acs.amazonaws.com/groups/global/Everybody', 'InvalidArgument'],
  ] as const)('that are not there are refused: %s %s', async (by, name, code) => {
    expect(await resolved(by, name)).toBe(code);
  });

  it('are as many as there may be, and count once', async () => {
    expect(await resolved('id', ...Array.from({ length: 3 }, () => 'one-id'))).toEqual([{ project: 'one-id' }]);
    expect(await resolved('id', ...Array.from({ length: 4 }, () => 'one-id'))).toBe('InvalidRequest');
  });

  it('of a canned ACL are its owners', async () => {
    const acl = await resolveAcl({ canned: 'bucket-owner-read' }, projects, rules);
    expect(acl('owner', 'bucket-owner')).toEqual([
      { grantee: { project: 'owner' }, permission: 'FULL_CONTROL' },
      { grantee: { project: 'bucket-owner' }, permission: 'READ' },
    ]);
  });
});
