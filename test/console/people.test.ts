import {
  AddUserToGroupCommand,
  AttachUserPolicyCommand,
  CreateAccessKeyCommand,
  CreateGroupCommand,
  CreateUserCommand,
  GetAccessKeyLastUsedCommand,
  GetUserPolicyCommand,
  ListAccessKeysCommand,
  ListUsersCommand,
  PutGroupPolicyCommand,
  PutUserPermissionsBoundaryCommand,
  PutUserPolicyCommand,
} from '@aws-sdk/client-iam';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { shortPolicy } from '../../shared/documents/short-policy.ts';
import { bucketName } from '../support/clients/clients.ts';
import { allowing, iamClient } from '../support/clients/iam.ts';
import { alice } from '../support/programs/server.ts';
import { makeBucket, row } from './support/buckets.ts';
import { consoleUnderTest, expectAccessible } from './support/console.ts';
import { heapContains } from './support/heap.ts';
import type { Key } from './support/sign-in.ts';

const under = consoleUnderTest();
const iam = () => iamClient(under.service.url, alice);
const managed = (name: string): string => `arn:aws:iam::aws:policy/${name}`;

/** Makes a user, with managed policies, and a key. */
async function makeUser(...policies: readonly string[]): Promise<{ readonly name: string; readonly key: Key }> {
  const UserName = bucketName();
  await iam().send(new CreateUserCommand({ UserName }));
  for (const each of policies) {
    await iam().send(new AttachUserPolicyCommand({ UserName, PolicyArn: managed(each) }));
  }
  const { AccessKey } = await iam().send(new CreateAccessKeyCommand({ UserName }));
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey } = AccessKey!;
  return { name: UserName, key: { accessKeyId: accessKeyId!, secretAccessKey: secretAccessKey! } };
}

/** Reads the key that the dialog shows. */
async function shownKey(page: Page): Promise<Key> {
  await page.getByText('Copy the secret now').waitFor();
  const codes = await page.getByRole('dialog').locator('code').allTextContents();
  return { accessKeyId: codes[0]!, secretAccessKey: codes[1]! };
}

const dialogOf = (page: Page) => page.getByRole('dialog');
const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
const submit = (page: Page, name: string) =>
  dialogOf(page).locator('footer').getByRole('button', { name, exact: true }).click();

/** What a key gets for a list of a prefix. */
const listing = (key: Key, Bucket: string, Prefix: string): Promise<string> =>
  under
    .sdk(key)
    .send(new ListObjectsV2Command({ Bucket, Prefix }))
    .then(
      () => 'allowed',
      (error: Error) => error.name,
    );

describe('a user', () => {
  it('is made by the keyboard with rights in a part of a bucket and a key, which may do that and no more', async (test) => {
    const bucket = await makeBucket(under, ['2026/a.txt', '2027/b.txt']);
    const name = bucketName();
    const page = await under.signedIn(test);
    await page.getByRole('link', { name: 'People and keys' }).press('Enter');
    await page.getByRole('heading', { name: 'People and keys', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Create user' }).press('Enter');
    const dialog = dialogOf(page);
    await dialog.getByLabel('Name of the user').waitFor();
    await page.keyboard.type(name);
    await dialog.getByLabel('Bucket').selectOption(bucket);
    await dialog.getByLabel('Names that begin with').fill('2026/');
    await dialog.getByLabel('Access', { exact: true }).selectOption('Read and list');
    await dialog.getByText(`iam create-user --user-name ${name}`).waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Names that begin with').press('Enter');
    const key = await shownKey(page);
    await expectAccessible(page);
    await submit(page, 'I have copied it');

    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await page.getByText(`Read and list ${bucket}/2026/`).waitFor();
    await page.getByRole('group', { name: key.accessKeyId }).getByText('Active').waitFor();
    await expectAccessible(page);
    await expect.poll(() => heapContains(page, key.secretAccessKey)).toBe(false);
    const { PolicyDocument } = await iam().send(new GetUserPolicyCommand({ UserName: name, PolicyName: 'access' }));
    expect(decodeURIComponent(PolicyDocument!)).toBe(shortPolicy(bucket, '2026/', 'read'));
    await page.getByRole('link', { name: 'All users' }).click();
    const line = page.getByRole('row').filter({ hasText: name });
    await line.getByText(key.accessKeyId).waitFor();
    await line.getByText(`Read and list ${bucket}/2026/`).waitFor();
    await expectAccessible(page);

    const theirs = await under.signedIn(test, `/b/${bucket}/2026/`, { key });
    await row(theirs, 'a.txt').waitFor();
    await theirs.goto(`${under.origin}/b/${bucket}/2027/`);
    expect(await listing(key, bucket, '2026/')).toBe('allowed');
    expect(await listing(key, bucket, '2027/')).toBe('AccessDenied');
    expect([...under.faultsOf(page), ...under.faultsOf(theirs)]).toEqual([]);
  });

  it('is deleted with keys, policies and groups, which are counted before', async (test) => {
    const { name, key } = await makeUser('AmazonS3ReadOnlyAccess');
    const GroupName = bucketName();
    await iam().send(new CreateGroupCommand({ GroupName }));
    await iam().send(new AddUserToGroupCommand({ GroupName, UserName: name }));
    const page = await under.signedIn(test, `/people/${name}`);
    await press(page, 'Delete user');
    const dialog = dialogOf(page);
    await dialog.getByText('1 access key, which stops working at once').waitFor();
    await dialog.getByText('1 attachment of a managed policy').waitFor();
    await dialog.getByText('the membership of 1 group').waitFor();
    expect(await dialog.getByText('own polic').count()).toBe(0);
    await expectAccessible(page);
    await submit(page, 'Delete user');
    await page.getByText(`${name} was deleted.`).waitFor();
    await page.getByRole('heading', { name: 'People and keys', level: 1 }).waitFor();
    const { Users } = await iam().send(new ListUsersCommand({ MaxItems: 1000 }));
    expect(Users!.map(({ UserName }) => UserName)).not.toContain(name);
    expect(await listing(key, bucketName(), '')).toBe('InvalidAccessKeyId');
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('is on a further page where there are many', async (test) => {
    const names = Array.from({ length: 26 }, () => `zz-${bucketName()}`).toSorted();
    for (const UserName of names) await iam().send(new CreateUserCommand({ UserName }));
    const page = await under.signedIn(test, '/people');
    const last = page.getByRole('link', { name: names.at(-1)! });
    const rows = page.locator('.people tbody tr');
    await expect.poll(() => rows.count()).toBe(25);
    const more = page.getByRole('button', { name: 'Show more users' });
    for (let shown = 25; (await last.count()) === 0; shown = await rows.count()) {
      await more.click();
      await expect.poll(() => rows.count()).toBeGreaterThan(shown);
    }
    expect(await more.count()).toBe(0);
  });
});

describe('a key', () => {
  it('is replaced while the old one works, which is then deactivated, activated again and deleted', async (test) => {
    const bucket = await makeBucket(under, []);
    const { name, key: old } = await makeUser('AmazonS3ReadOnlyAccess');
    const page = await under.signedIn(test, `/people/${name}`);
    await press(page, `Rotate ${old.accessKeyId}`);
    await dialogOf(page).getByText('A new key is created, and both work').waitFor();
    await submit(page, 'Create the new key');
    const key = await shownKey(page);
    await page.getByText(`The old key, ${old.accessKeyId}, still works.`).waitFor();
    await submit(page, 'I have copied it');
    await page.getByText(`Deactivate the older one, ${old.accessKeyId}`).waitFor();
    expect(await page.getByRole('button', { name: 'Create key' }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: /^Rotate/ }).count()).toBe(0);
    for (const each of [old, key]) expect(await listing(each, bucket, '')).toBe('allowed');

    const line = page.getByRole('group', { name: old.accessKeyId });
    await press(page, `Deactivate ${old.accessKeyId}`);
    await submit(page, 'Deactivate');
    await line.getByText('Inactive').waitFor();
    expect(await listing(old, bucket, '')).not.toBe('allowed');
    expect(await listing(key, bucket, '')).toBe('allowed');
    await press(page, `Activate ${old.accessKeyId}`);
    await submit(page, 'Activate');
    await line.getByText('Active', { exact: true }).waitFor();
    expect(await listing(old, bucket, '')).toBe('allowed');
    await press(page, `Delete ${old.accessKeyId}`);
    await dialogOf(page).getByText(`delete-access-key --user-name ${name} --access-key-id`).waitFor();
    await submit(page, 'Delete key');
    await line.waitFor({ state: 'detached' });
    const { AccessKeyMetadata } = await iam().send(new ListAccessKeysCommand({ UserName: name }));
    expect(AccessKeyMetadata!.map(({ AccessKeyId }) => AccessKeyId)).toEqual([key.accessKeyId]);
    expect(under.faultsOf(page)).toEqual([]);
  });
});

describe('the last use of a key', () => {
  it('is shown with its service and region, in the language of the console', async (test) => {
    const bucket = await makeBucket(under, []);
    const { name, key } = await makeUser('AmazonS3ReadOnlyAccess');
    const lineOf = (page: Page) => page.getByRole('group', { name: key.accessKeyId });
    const unused = await under.signedIn(test, `/people/${name}`);
    await lineOf(unused).getByText('Last used: never, as far as is known').waitFor();
    await expectAccessible(unused);

    expect(await listing(key, bucket, '')).toBe('allowed');
    const AccessKeyId = key.accessKeyId;
    const lastUse = async () =>
      (await iam().send(new GetAccessKeyLastUsedCommand({ AccessKeyId }))).AccessKeyLastUsed?.ServiceName;
    await expect.poll(lastUse).toBe('s3');
    const used = await under.signedIn(test, `/people/${name}`);
    const year = String(new Date().getFullYear());
    await lineOf(used)
      .getByText(new RegExp(`^Last used: .*${year}.*, for S3 in us-east-1$`))
      .waitFor();
    await expectAccessible(used);
    await used.getByRole('link', { name: 'Profile' }).click();
    await used.getByLabel('Language').selectOption('Deutsch');
    await used.getByRole('heading', { name: 'Profil', exact: true }).waitFor();
    await used.goBack();
    await lineOf(used)
      .getByText(new RegExp(`^Zuletzt benutzt: .*${year}.*, für S3 in us-east-1$`))
      .waitFor();
    expect([unused, used].flatMap((page) => under.faultsOf(page))).toEqual([]);
  });

  it('is not known to whoever may not see it', async (test) => {
    const { name, key } = await makeUser();
    const Statement = [
      { Effect: 'Allow', Action: ['iam:*', 's3:*'], Resource: '*' },
      { Effect: 'Deny', Action: 'iam:GetAccessKeyLastUsed', Resource: '*' },
    ];
    const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
    await iam().send(new PutUserPolicyCommand({ UserName: name, PolicyName: 'p', PolicyDocument }));
    const page = await under.signedIn(test, `/people/${name}`, { key });
    await page.getByRole('group', { name: key.accessKeyId }).getByText('Last used: not known').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(under.faultsOf(page)).toEqual([]);
  });
});

describe('policies of a user', () => {
  it('are written as JSON, which the service checks, or by the form, and removed', async (test) => {
    const bucket = await makeBucket(under, []);
    const { name } = await makeUser();
    const page = await under.signedIn(test, `/people/${name}`);
    const dialog = dialogOf(page);
    await page.getByText('No policies of their own').waitFor();
    await press(page, 'Add policy');
    await dialog.getByLabel('Bucket').selectOption(bucket);
    await dialog.getByLabel('As JSON').check();
    const text = dialog.getByLabel('Policy', { exact: true });
    expect(await text.inputValue()).toBe(shortPolicy(bucket, '', 'read'));
    await text.fill('{"Version":');
    await dialog.getByText('Not JSON').waitFor();
    expect(await dialog.getByRole('button', { name: 'Save policy' }).isDisabled()).toBe(true);
    const wrong = allowing('s3:GetObject').replace('"Resource":"*"', '"Resource":"*","Principal":"*"');
    const said = dialog.locator('.hint.bad');
    await text.fill(wrong);
    await dialog.getByRole('button', { name: 'Check' }).click();
    await said.waitFor();
    const fault = await said.textContent();
    expect(fault).toMatch(/Principal/);
    await expectAccessible(page);
    await text.fill(`${wrong} `);
    await said.waitFor({ state: 'detached' });
    await submit(page, 'Save policy');
    await said.waitFor();
    expect(await said.textContent()).toBe(fault);
    await text.fill(allowing(['s3:GetObject', 's3:DeleteObject'], `arn:aws:s3:::${bucket}/*`));
    expect(await dialog.getByLabel('By a form').isDisabled()).toBe(true);
    await dialog.getByRole('button', { name: 'Check' }).click();
    await dialog.getByText('The service accepts this policy.').waitFor();
    await submit(page, 'Save policy');
    const line = page.getByRole('group', { name: 'access', exact: true });
    await line.getByText(`Allows s3:GetObject, s3:DeleteObject on ${bucket}/*`).waitFor();

    await press(page, 'Edit access');
    await text.fill(shortPolicy(bucket, 'in/', 'write'));
    await dialog.getByLabel('By a form').check();
    expect(await dialog.getByLabel('Names that begin with').inputValue()).toBe('in/');
    await dialog.getByLabel('Access', { exact: true }).selectOption('Read, write, delete and list');
    await dialog.getByLabel('Name of the policy').fill('inbox');
    await submit(page, 'Save policy');
    await page.getByText(`Read, write, delete and list in ${bucket}/in/`).waitFor();
    await line.waitFor({ state: 'detached' });
    const { PolicyDocument } = await iam().send(new GetUserPolicyCommand({ UserName: name, PolicyName: 'inbox' }));
    expect(decodeURIComponent(PolicyDocument!)).toBe(shortPolicy(bucket, 'in/', 'read-write'));
    await press(page, 'Remove inbox');
    await submit(page, 'Remove');
    await page.getByText('No policies of their own').waitFor();
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('are attached and detached, and a permissions boundary is shown', async (test) => {
    const { name } = await makeUser();
    const PermissionsBoundary = managed('AmazonS3ReadOnlyAccess');
    await iam().send(new PutUserPermissionsBoundaryCommand({ UserName: name, PermissionsBoundary }));
    const page = await under.signedIn(test, `/people/${name}`);
    await page.getByText('AmazonS3ReadOnlyAccess: whatever other policies say').waitFor();
    for (const policy of ['FullAccess', 'AmazonS3FullAccess', 'AmazonS3ReadOnlyAccess']) {
      await press(page, 'Attach managed policy');
      await dialogOf(page).getByLabel('Managed policy').selectOption(managed(policy));
      await submit(page, 'Attach');
      await page.getByRole('group', { name: policy, exact: true }).waitFor();
    }
    await expectAccessible(page);
    await press(page, 'Remove FullAccess');
    await dialogOf(page).getByText(`detach-user-policy --user-name ${name}`).waitFor();
    await submit(page, 'Remove');
    await page.getByRole('group', { name: 'FullAccess', exact: true }).waitFor({ state: 'detached' });
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('of groups count, and what all of them allow in a part of a bucket is said in sentences', async (test) => {
    const bucket = await makeBucket(under, []);
    const { name } = await makeUser();
    const GroupName = bucketName();
    await iam().send(new CreateGroupCommand({ GroupName }));
    const PolicyDocument = shortPolicy(bucket, '2026/', 'read');
    await iam().send(new PutGroupPolicyCommand({ GroupName, PolicyName: 'reading', PolicyDocument }));
    const page = await under.signedIn(test, `/people/${name}`);
    await press(page, 'Add to a group');
    await dialogOf(page).getByLabel('Group').selectOption(GroupName);
    await submit(page, 'Add');
    await page.getByRole('group', { name: GroupName }).waitFor();
    const rights = page.getByRole('region', { name: 'What may this user do?' });
    await rights.getByLabel('Bucket').selectOption(bucket);
    await rights.getByLabel('Names that begin with').fill('2026/');
    await rights.getByLabel('Names that begin with').press('Enter');
    await rights.getByText(`In ${bucket}/2026/:`).waitFor();
    const sentences = [
      'May list objects.',
      'May read objects.',
      'May not write objects: no policy allows it.',
      'May not delete objects: no policy allows it.',
      'May not change the settings of the bucket: no policy allows it.',
    ];
    expect(await rights.getByRole('listitem').allTextContents()).toEqual(sentences);
    await expectAccessible(page);
    await rights.getByLabel('Names that begin with').fill('2027/');
    await rights.getByRole('button', { name: 'Find out' }).click();
    await rights.getByText(`In ${bucket}/2027/:`).waitFor();
    await rights.getByText('May not read objects: no policy allows it.').waitFor();
    await press(page, `Remove from ${GroupName}`);
    await submit(page, 'Remove');
    await page.getByText('In no group.').waitFor();
    expect(await rights.getByRole('listitem').count()).toBe(0);
    expect(under.faultsOf(page)).toEqual([]);
  });
});

describe('those whom policy does not allow it', () => {
  it('are told which right is missing, in a sentence', async (test) => {
    const { name, key } = await makeUser('FullAccess');
    for (const [path, right] of [
      ['/people', 'iam:ListUsers'],
      [`/people/${name}`, 'iam:GetUser'],
    ]) {
      const page = await under.signedIn(test, path, { key });
      await page.getByText(`Your key does not have the right ${right}.`).waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      expect(await page.getByRole('button', { name: 'Create user' }).count()).toBe(0);
      await expectAccessible(page);
      expect(under.faultsOf(page)).toEqual([]);
    }
  });

  it('see what they may, and are told in the dialog what they may not', async (test) => {
    const { name, key } = await makeUser('IAMReadOnlyAccess');
    const page = await under.signedIn(test, '/people', { key });
    await press(page, 'Create user');
    await dialogOf(page).getByLabel('Name of the user').fill(bucketName());
    await dialogOf(page).getByLabel('What the user may do').selectOption('Nothing yet');
    await submit(page, 'Create user');
    await dialogOf(page).getByText('This needs the right iam:CreateUser').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name }).click();
    await page.getByRole('group', { name: 'IAMReadOnlyAccess' }).waitFor();
    expect(under.faultsOf(page)).toEqual([]);
  });
});
