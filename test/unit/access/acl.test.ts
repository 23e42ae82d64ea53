import { fullRights } from '../../../shared/access/identity-rights.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cannedAcl,
  decodeAcl,
  encodeAcl,
  grants,
  groupOf,
  isCannedAcl,
  uriOf,
  withoutRepeats,
  type Acl,
  type CannedAcl,
  type Permission,
} from '../../../shared/access/acl.ts';
import { anonymous, type Caller } from '../../../shared/access/identity.ts';

const everybody = 'http://acs.amazonaws.com/groups/global/AllUsers';
const permissions: readonly Permission[] = ['READ', 'WRITE', 'READ_ACP', 'WRITE_ACP', 'FULL_CONTROL'];

function userOf(project: string): Caller {
  return {
    ...{ kind: 'user', id: 'user-id', accessKeyId: 'key', name: 'name', privileges: [], rights: fullRights },
    project: { id: project, email: `${project}@customer`, displayName: project },
  };
}

const short = (acl: Acl): readonly string[] =>
  acl.map(({ grantee, permission }) => `${'project' in grantee ? grantee.project : grantee.group} ${permission}`);

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html#canned-acl */
describe('a canned ACL', () => {
  it.each([
    ['private', ['owner FULL_CONTROL']],
    ['public-read', ['owner FULL_CONTROL', 'AllUsers READ']],
    ['public-read-write', ['owner FULL_CONTROL', 'AllUsers READ', 'AllUsers WRITE']],
    ['authenticated-read', ['owner FULL_CONTROL', 'AuthenticatedUsers READ']],
    ['bucket-owner-read', ['owner FULL_CONTROL', 'bucket-owner READ']],
    ['bucket-owner-full-control', ['owner FULL_CONTROL', 'bucket-owner FULL_CONTROL']],
    ['aws-exec-read', ['owner FULL_CONTROL']],
  ] as const)('%s grants what S3 says', (name, expected) => {
    expect(isCannedAcl(name)).toBe(true);
    expect(short(cannedAcl(name, 'owner', 'bucket-owner'))).toEqual(expected);
  });

  it('of a bucket says of its owner the same once only', () => {
    expect(short(cannedAcl('bucket-owner-full-control', 'owner', 'owner'))).toEqual(['owner FULL_CONTROL']);
    expect(short(cannedAcl('bucket-owner-read', 'owner', 'owner'))).toEqual(['owner FULL_CONTROL', 'owner READ']);
  });

  it.each(['', 'Private', 'public', 'public-read ', 'constructor', '__proto__', 'toString'])('is not %j', (name) => {
    expect(isCannedAcl(name)).toBe(false);
  });
});

describe('a grant', () => {
  const among: readonly (readonly [Caller, string, Acl[number]['grantee'], boolean])[] = [
    [anonymous, 'nobody', { group: 'AllUsers' }, true],
    [anonymous, 'nobody', { group: 'AuthenticatedUsers' }, false],
    [anonymous, 'nobody', { group: 'LogDelivery' }, false],
    [anonymous, 'nobody', { project: 'p' }, false],
    [userOf('p'), 'p', { group: 'AllUsers' }, true],
    [userOf('p'), 'p', { group: 'AuthenticatedUsers' }, true],
    [userOf('p'), 'p', { group: 'LogDelivery' }, false],
    [userOf('p'), 'p', { project: 'p' }, true],
    [userOf('p'), 'p', { project: 'q' }, false],
    [userOf('p'), 'p', { project: 'P' }, false],
  ];

  it.each(among)('%o (%s) is among %o: %s', (caller, _, grantee, expected) => {
    expect(grants([{ grantee, permission: 'READ' }], caller, 'READ')).toBe(expected);
  });

  it('is of one permission, or of all', () => {
    for (const granted of permissions) {
      for (const wanted of permissions) {
        const expected = granted === wanted || granted === 'FULL_CONTROL';
        const acl: Acl = [{ grantee: { project: 'p' }, permission: granted }];
        expect(grants(acl, userOf('p'), wanted), `${granted} for ${wanted}`).toBe(expected);
      }
    }
  });

  it('is needed: an empty list grants nothing', () => {
    for (const wanted of permissions) expect(grants([], userOf('p'), wanted)).toBe(false);
  });
});

describe('a group', () => {
  it('has the URI of S3, and everybody that of the deployment too', () => {
    expect(groupOf(everybody, 'urn:all')).toBe('AllUsers');
    expect(groupOf('urn:all', 'urn:all')).toBe('AllUsers');
    expect(groupOf('http://acs.amazonaws.com/groups/global/AuthenticatedUsers', 'urn:all')).toBe('AuthenticatedUsers');
    expect(groupOf('http://acs.amazonaws.com/groups/s3/LogDelivery', 'urn:all')).toBe('LogDelivery');
    expect(groupOf('http://acs.amazonaws.com/groups/global/allusers', 'urn:all')).toBeUndefined();
    expect(groupOf('', 'urn:all')).toBeUndefined();
  });

  it('is shown by the URI of the deployment', () => {
    expect(uriOf('AllUsers', 'urn:all')).toBe('urn:all');
    expect(uriOf('AuthenticatedUsers', 'urn:all')).toBe('http://acs.amazonaws.com/groups/global/AuthenticatedUsers');
  });
});

describe('the stored form', () => {
  it('is short', () => {
    expect(encodeAcl(cannedAcl('public-read', 'owner', 'owner'))).toEqual(['F=owner', 'R*']);
  });

  it('gives back every list', () => {
    const grantee = fc.oneof(
      fc.record({ project: fc.string() }),
      fc.record({ group: fc.constantFrom('AllUsers' as const, 'AuthenticatedUsers' as const, 'LogDelivery' as const) }),
    );
    const acls = fc.array(fc.record({ grantee, permission: fc.constantFrom(...permissions) }));
    fc.assert(
      fc.property(acls, (acl) => {
        expect(decodeAcl(encodeAcl(acl))).toEqual(acl);
      }),
    );
  });

  it('is not guessed at', () => {
    expect(() => decodeAcl(['X*'])).toThrow();
    expect(() => decodeAcl(['R?'])).toThrow();
  });
});

it('has each grant once', () => {
  const names: readonly CannedAcl[] = ['public-read', 'public-read-write'];
  const acl = names.flatMap((name) => cannedAcl(name, 'o', 'o'));
  expect(short(withoutRepeats(acl))).toEqual(['o FULL_CONTROL', 'AllUsers READ', 'AllUsers WRITE']);
});
