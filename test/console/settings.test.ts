import {
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetPublicAccessBlockCommand,
  PutBucketLifecycleConfigurationCommand,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { setVersioning } from '../support/storage/objects.ts';
import { makeBucket } from './support/buckets.ts';
import { consoleUnderTest, expectAccessible } from './support/console.ts';

const under = consoleUnderTest();

describe('the settings of a bucket', () => {
  it('turn versioning on and suspend it, and show use and quota', async (test) => {
    const bucket = await makeBucket(under, ['a']);
    const page = await under.signedIn(test, `/settings/${bucket}/overview`);
    await page.getByText('of 25 TB').waitFor();
    await page.getByText('of versions, 0 B besides').waitFor();
    await page.getByText('The operator of the service can raise both').waitFor();
    const versioning = page.getByRole('heading', { name: 'Versioning' }).locator('..');
    await versioning.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('Every change creates a new version').waitFor();
    await expectAccessible(page);
    await versioning.getByRole('button', { name: 'Suspend' }).click();
    await page.getByText('Changes no longer create versions').waitFor();
    const stored = await under.sdk().send(new GetBucketVersioningCommand({ Bucket: bucket }));
    expect(stored.Status).toBe('Suspended');
  });

  it('encrypt new objects, and keep tags', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/settings/${bucket}/overview`);
    const encryption = page.getByRole('heading', { name: 'Encryption of new objects' }).locator('..');
    await encryption.getByText('s3api put-bucket-encryption').waitFor();
    await encryption.getByRole('button', { name: 'Turn on' }).click();
    await encryption.getByRole('button', { name: 'Turn off' }).waitFor();
    const { ServerSideEncryptionConfiguration: stored } = await under
      .sdk()
      .send(new GetBucketEncryptionCommand({ Bucket: bucket }));
    expect(stored?.Rules?.[0]?.ApplyServerSideEncryptionByDefault?.SSEAlgorithm).toBe('AES256');

    const tags = async () => (await under.sdk().send(new GetBucketTaggingCommand({ Bucket: bucket }))).TagSet;
    await page.getByRole('button', { name: 'Edit: Tags' }).click();
    await page.getByText('at most 50 tags').waitFor();
    await page.getByLabel('Key 1').fill('team');
    await page.getByLabel('Value 1').fill('blue');
    await page
      .getByText(`put-bucket-tagging --bucket ${bucket} --tagging '{"TagSet":[{"Key":"team","Value":"blue"}]}'`)
      .waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('team: blue').waitFor();
    expect(await tags()).toEqual([{ Key: 'team', Value: 'blue' }]);
    await page.getByRole('button', { name: 'Edit: Tags' }).click();
    await page.getByRole('button', { name: 'Remove 1' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('No tags.').waitFor();
    await expect(tags()).rejects.toMatchObject({ name: 'NoSuchTagSet' });
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('block public access, which then wins over a policy', async (test) => {
    const bucket = await makeBucket(under, ['a']);
    const page = await under.signedIn(test, `/settings/${bucket}/access`);
    const refuse = page.getByRole('switch', { name: 'Refuse policies that let everybody in' });
    await refuse.click();
    await page.getByRole('button', { name: 'AWS CLI: Off: Refuse policies that let everybody in' }).waitFor();
    await expectAccessible(page);
    const stored = await under.sdk().send(new GetPublicAccessBlockCommand({ Bucket: bucket }));
    expect(stored.PublicAccessBlockConfiguration).toEqual({
      BlockPublicAcls: false,
      IgnorePublicAcls: false,
      BlockPublicPolicy: true,
      RestrictPublicBuckets: false,
    });
    await page.getByLabel('Add a statement').selectOption('Everybody may read objects');
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByRole('alert').getByText('403 AccessDenied').waitFor();
    await refuse.click();
    await expect.poll(() => refuse.isChecked()).toBe(false);
    await expect
      .poll(() =>
        under
          .sdk()
          .send(new GetPublicAccessBlockCommand({ Bucket: bucket }))
          .catch((error: Error) => error.name),
      )
      .toBe('NoSuchPublicAccessBlockConfiguration');
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByRole('button', { name: 'Delete policy' }).waitFor();
  });

  it('open the list of the bucket to everybody by its ACL', async (test) => {
    const bucket = await makeBucket(under, ['a']);
    const list = async (): Promise<number> => (await fetch(`${under.service.url}/${bucket}`)).status;
    expect(await list()).toBe(403);
    const page = await under.signedIn(test, `/settings/${bucket}/access`);
    await page.getByLabel('Who').selectOption('Everybody');
    await page.getByLabel('May').selectOption('List the objects');
    await page.getByRole('button', { name: 'Add grant' }).click();
    await page.getByText('Changes are not saved yet.').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(list).toBe(200);
  });

  it('delete noncurrent versions by a lifecycle rule, which is for buckets that keep them', async (test) => {
    const bucket = await makeBucket(under, []);
    await setVersioning(under.sdk(), bucket, 'Enabled');
    const page = await under.signedIn(test, `/settings/${bucket}/lifecycle`);
    await page.getByRole('button', { name: 'Add rule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('A delete marker is then added').waitFor();
    await dialog.getByLabel('Rule name').fill('old');
    await dialog.getByLabel('Days until noncurrent versions').fill('90');
    await dialog.getByText('"NoncurrentVersionExpiration":{"NoncurrentDays":90}').waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Whole bucket · noncurrent versions are deleted after 90 days').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Days until the current version expires').fill('30');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('expire after 30 days').waitFor();
    const stored = await under.sdk().send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }));
    expect(stored.Rules).toEqual([
      {
        ID: 'old',
        Status: 'Enabled',
        Filter: {},
        Expiration: { Days: 30 },
        NoncurrentVersionExpiration: { NoncurrentDays: 90 },
      },
    ]);
  });

  it('add lifecycle rules that are on at first, turn them off, and leave those with more as they are', async (test) => {
    const bucket = await makeBucket(under, []);
    const client = under.sdk();
    const other = {
      ID: 'by-tag',
      Status: 'Enabled' as const,
      Filter: { And: { Prefix: 'tmp/', Tags: [{ Key: 'a', Value: 'b' }] } },
      Expiration: { Days: 3 },
    };
    await client.send(
      new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration: { Rules: [other] } }),
    );
    const rules = async () =>
      (await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }))).Rules ?? [];
    const page = await under.signedIn(test, `/settings/${bucket}/lifecycle`);
    await page.getByText('can only be changed there').waitFor();
    expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
    expect(await page.getByRole('switch', { name: 'by-tag is on' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Add rule' }).click();
    await page.getByLabel('Rule name').fill('logs');
    await page.getByLabel('For names that begin with').fill('logs/');
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByLabel('Days until the current version expires').fill('30');
    expect(await page.getByLabel('Days until noncurrent versions').isDisabled()).toBe(true);
    // No command could put the rule that has more than the form knows.
    await page.getByRole('dialog').getByText('get-bucket-lifecycle-configuration').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('expire after 30 days').waitFor();
    await expectAccessible(page);
    const logs = { ID: 'logs', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 30 } };
    expect(await rules()).toEqual([other, logs]);
    await page.getByRole('switch', { name: 'logs is on' }).click();
    await expect.poll(rules).toEqual([other, { ...logs, Status: 'Disabled' }]);
    await page.getByRole('button', { name: 'Remove: logs' }).click();
    await expect.poll(rules).toEqual([other]);
  });
});
