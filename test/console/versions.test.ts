import { DeleteObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { put, read, setVersioning, versionsOf } from '../support/storage/objects.ts';
import { makeBucket, row } from './support/buckets.ts';
import { consoleUnderTest, expectAccessible } from './support/console.ts';

const under = consoleUnderTest();

describe('versions', () => {
  it('are listed, shown, restored, deleted and undeleted', async (test) => {
    const bucket = await makeBucket(under, []);
    await setVersioning(under.sdk(), bucket, 'Enabled');
    for (const content of ['first', 'second', 'third']) await put(under.sdk(), bucket, 'a.txt', content);
    const page = await under.signedIn(test, `/b/${bucket}/?o=a.txt&t=versions`);
    const versions = page.locator('.version');
    await expect.poll(() => versions.count()).toBe(3);
    await expectAccessible(page);
    await versions.nth(2).getByRole('button', { name: 'Preview' }).click();
    await page.frameLocator('.preview-frame').getByText('first').waitFor();
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByText(/copy-object .* --copy-source \S+\?versionId=/).waitFor();
    await versions.nth(2).getByRole('button', { name: 'Restore', exact: true }).click();
    await expect.poll(() => versions.count()).toBe(4);
    expect(await read(under.sdk(), bucket, 'a.txt')).toBe('first');
    await versions.nth(2).getByRole('button', { name: 'Delete version' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect.poll(() => versions.count()).toBe(3);

    await row(page, 'a.txt').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByText('a.txt deleted.').waitFor();
    await page.getByText('Deleted here').waitFor();
    await page.getByText(/delete-object .* --version-id/).waitFor();
    await page.getByRole('button', { name: 'Undelete', exact: true }).click();
    await row(page, 'a.txt').waitFor();
    expect(await read(under.sdk(), bucket, 'a.txt')).toBe('first');
  });
});

describe('deleted objects', () => {
  it('are found in a folder and in those in it, and brought back, one or several', async (test) => {
    const bucket = await makeBucket(under, []);
    const client = under.sdk();
    await setVersioning(client, bucket, 'Enabled');
    await put(client, bucket, 'kept.txt', 'kept');
    const keys = ['a.txt', 'f/b.txt', 'f/g/c.txt'];
    for (const key of [...keys, 'a.txt']) await put(client, bucket, key, `content of ${key}`);
    // Twice, so that two markers hide it.
    for (const Key of [...keys, 'a.txt']) await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
    const page = await under.signedIn(test, `/b/${bucket}/`);
    await row(page, 'kept.txt').waitFor();
    await page.getByRole('button', { name: 'Deleted objects' }).click();
    for (const key of keys) await row(page, key).waitFor();
    expect(await page.locator('.item').count()).toBe(3);
    await page.getByText('9 versions searched').waitFor();
    await expectAccessible(page);

    await row(page, 'a.txt').click();
    await page.getByText('Deleted here').first().waitFor();
    await row(page, 'a.txt').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Undelete' }).click();
    await expect.poll(() => page.locator('.item').count()).toBe(2);
    expect(await read(client, bucket, 'a.txt')).toBe('content of a.txt');
    await page.getByRole('button', { name: 'Close details' }).click();

    await page.getByRole('grid').press('Control+a');
    await page.getByText('2 items selected').waitFor();
    // Nothing is there to be deleted.
    await page.getByRole('grid').press('Delete');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('button', { name: 'Undelete' }).click();
    await page.getByText('No deleted object here can be restored').waitFor();
    for (const key of keys) expect(await read(client, bucket, key)).toBe(`content of ${key}`);
    expect((await versionsOf(client, bucket)).filter(({ isMarker }) => isMarker)).toEqual([]);
    await page.getByRole('button', { name: 'Back to the folder' }).click();
    await row(page, 'a.txt').waitFor();
    expect(under.faultsOf(page)).toEqual([]);
  });
});

describe('encryption and storage class', () => {
  it('stay when metadata is replaced, and when a version is restored', async (test) => {
    const bucket = await makeBucket(under, []);
    const client = under.sdk();
    await setVersioning(client, bucket, 'Enabled');
    const stored = { ServerSideEncryption: 'AES256', StorageClass: 'STANDARD_IA' } as const;
    await put(client, bucket, 'a.txt', 'first', stored);
    await put(client, bucket, 'a.txt', 'second');
    const head = () => client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'a.txt' }));
    const page = await under.signedIn(test, `/b/${bucket}/?o=a.txt&t=versions`);
    await page.getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByText('Restored').waitFor();
    expect(await head()).toMatchObject({ ContentLength: 5, ...stored });

    await page.getByRole('tab', { name: 'Properties' }).click();
    await page.getByRole('button', { name: 'Edit: Metadata' }).click();
    await page.getByLabel('Name 1').fill('colour');
    await page.getByLabel('Value 1').fill('green');
    await page.getByText('--server-side-encryption AES256 --storage-class STANDARD_IA').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('colour', { exact: true }).waitFor();
    expect(await head()).toMatchObject({ Metadata: { colour: 'green' }, ...stored });
  });
});
