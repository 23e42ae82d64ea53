import { beforeEach, expect, it } from 'vitest';
import { fullAccess, fullRights, parseIdentityPolicy } from '../../../shared/access/identity-rights.ts';
import type { IdentityRights } from '../../../shared/access/identity.ts';
import { decodeCarriedByUser, readRights } from '../../../shared/accounts/identity-items.ts';
import type { Attributes } from '../../../shared/ports/key-value-table.ts';
import { accountKey } from '../../../shared/storage/table/keys/account-keys.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';

const project = 'project-id';
let table: MemoryTable;

const text = (action: string): string =>
  JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: action, Resource: '*' }] });
const managed = (action: string): Attributes => ({
  versions: { v1: { text: text('s3:*') }, v2: { text: text(action) } },
  default: 'v2',
});
const rightsOf = (user: Attributes): Promise<IdentityRights> =>
  readRights(table, project, decodeCarriedByUser({ created: 1, ...user }));

beforeEach(async () => {
  table = new MemoryTable();
  await table.write([
    { key: accountKey.policy(project, 'reading'), put: managed('s3:GetObject') },
    { key: accountKey.policy(project, 'writing'), put: managed('s3:PutObject') },
    {
      key: accountKey.group(project, 'crew'),
      put: { attached: ['writing', 'aws/IAMReadOnlyAccess'], inline: { lists: text('s3:ListBucket') } },
    },
  ]);
});

it('a user of whom nothing is said has full access', async () => {
  expect(await rightsOf({})).toBe(fullRights);
  expect(await rightsOf({ attached: ['aws/FullAccess'] })).toBe(fullRights);
});

it('a user from whom it was detached has nothing', async () => {
  expect(await rightsOf({ attached: [] })).toEqual({ policies: [], boundary: undefined, session: undefined });
});

it('policies are inline, attached, and those of groups, in the version in force', async () => {
  const { policies } = await rightsOf({
    attached: ['reading'],
    inline: { own: text('s3:DeleteObject') },
    groups: ['crew'],
  });
  const actions = policies.flatMap(({ statements }) => statements.map((one) => [...one.actions]));
  expect(actions.slice(0, 4)).toEqual([['DeleteObject'], ['GetObject'], ['ListBucket'], ['PutObject']]);
  expect(actions[4]).toContain('iam:GetUser');
  expect(actions[4]).not.toContain('iam:CreateUser');
});

it('a boundary limits also full access, and one that is not there leaves nothing', async () => {
  const { policies, boundary } = await rightsOf({ boundary: 'reading' });
  expect(policies).toEqual([fullAccess]);
  expect(boundary).toEqual(parseIdentityPolicy(text('s3:GetObject')));
  expect(await rightsOf({ boundary: 'gone' })).toMatchObject({ boundary: { statements: [] } });
});

it('an unchanged policy stays the same object', async () => {
  const [one, other] = [await rightsOf({ attached: ['reading'] }), await rightsOf({ attached: ['reading'] })];
  expect(one.policies[0]).toBe(other.policies[0]);
});
