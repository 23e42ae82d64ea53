import {
  CreateBucketCommand,
  GetObjectLegalHoldCommand,
  GetObjectLockConfigurationCommand,
  GetObjectRetentionCommand,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { put, setVersioning } from '../support/storage/objects.ts';
import { makeBucket, nameForBucket } from './support/buckets.ts';
import { consoleUnderTest, expectAccessible } from './support/console.ts';

const under = consoleUnderTest();
const day = 86_400_000;

const lockOf = async (Bucket: string) =>
  (await under.sdk().send(new GetObjectLockConfigurationCommand({ Bucket }))).ObjectLockConfiguration;

describe('object lock', () => {
  it('is enabled with a new bucket, and has a default retention', async (test) => {
    const Bucket = nameForBucket(under);
    const page = await under.signedIn(test, '/');
    await page.getByRole('button', { name: 'Create bucket' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill(Bucket);
    await page.getByLabel('Object lock').check();
    expect(await page.getByLabel('Keep versions').isChecked()).toBe(true);
    await page
      .getByText(`create-bucket --bucket ${Bucket} --region us-east-1 --object-lock-enabled-for-bucket`)
      .waitFor();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Create bucket' }).click();
    await page.getByText(`${Bucket} was created`).waitFor();
    expect(await lockOf(Bucket)).toEqual({ ObjectLockEnabled: 'Enabled' });

    expect(under.faultsOf(page)).toEqual([]);

    const settings = await under.signedIn(test, `/settings/${Bucket}/lock`);
    await settings.getByLabel('Mode').selectOption('Governance');
    await settings.getByLabel('Period').fill('101');
    await settings.getByLabel('Unit').selectOption('Years');
    await settings.getByText('or 1 to 100 years').waitFor();
    expect(await settings.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await settings.getByLabel('Period').fill('2');
    await settings.getByText('{"Mode":"GOVERNANCE","Years":2}').waitFor();
    await expectAccessible(settings);
    await settings.getByRole('button', { name: 'Save' }).click();
    await settings.getByText('Saved').waitFor();
    expect((await lockOf(Bucket))!.Rule!.DefaultRetention).toEqual({ Mode: 'GOVERNANCE', Years: 2 });
    expect(under.faultsOf(settings)).toEqual([]);
  });

  it('is turned on for a bucket with versioning, after a question', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/settings/${bucket}/lock`);
    await page.getByText('needs versioning').waitFor();
    expect(await page.getByRole('button', { name: 'Turn on …' }).isDisabled()).toBe(true);
    await setVersioning(under.sdk(), bucket, 'Enabled');
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByRole('tab', { name: 'Object lock' }).click();
    await page.getByRole('button', { name: 'Turn on …' }).click();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Turn on for good' }).click();
    await page.getByText('Versions can be locked').waitFor();
    expect(await lockOf(bucket)).toEqual({ ObjectLockEnabled: 'Enabled' });
  });

  it('keeps a version for a time, or until its hold is lifted', async (test) => {
    const Bucket = nameForBucket(under);
    const client = under.sdk();
    await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
    await put(client, Bucket, 'a.txt', 'content');
    const page = await under.signedIn(test, `/b/${Bucket}/?o=a.txt&t=properties`);
    const of = { Bucket, Key: 'a.txt' };

    await page.getByRole('button', { name: 'Edit: Object lock' }).click();
    await page.getByLabel('Mode').selectOption('Governance');
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    const until = new Date(Math.ceil((Date.now() + day) / day) * day);
    await dialog.getByLabel('Until', { exact: true }).fill(until.toISOString().slice(0, 16));
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Governance, until').waitFor();
    const { Retention } = await client.send(new GetObjectRetentionCommand(of));
    expect(Retention!.Mode).toBe('GOVERNANCE');

    await page.getByRole('switch', { name: 'Legal hold' }).click();
    await page.getByText('--legal-hold Status=OFF').waitFor();
    expect((await client.send(new GetObjectLegalHoldCommand(of))).LegalHold).toEqual({ Status: 'ON' });
    await page.getByRole('switch', { name: 'Legal hold' }).click();
    await page.getByText('--legal-hold Status=ON').waitFor();

    await page.getByRole('button', { name: 'Edit: Object lock' }).click();
    await page.getByLabel('Mode').selectOption('None');
    await page.getByRole('switch', { name: 'Bypass governance' }).click();
    await page.getByText('--bypass-governance-retention').waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('None', { exact: true }).waitFor();
    await expect(client.send(new GetObjectRetentionCommand(of))).rejects.toMatchObject({
      name: 'NoSuchObjectLockConfiguration',
    });
    expect(under.faultsOf(page)).toEqual([]);
  });
});
