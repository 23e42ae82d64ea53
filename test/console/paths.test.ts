import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { makeBucket, file, row } from './support/buckets.ts';
import { consoleUnderTest } from './support/console.ts';

const under = consoleUnderTest();

describe('a path without a slash at its end', () => {
  it('opens the object of this name, or else the folder, into which files are then sent', async (test) => {
    const bucket = await makeBucket(under, ['dir/one.txt', 'both', 'both/two.txt']);
    const page = await under.signedIn(test, `/b/${bucket}/dir/one.txt`);
    await page.getByRole('complementary', { name: 'Details' }).getByRole('heading', { name: 'one.txt' }).waitFor();
    await row(page, 'one.txt').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/b/${bucket}/dir/`);

    const type = async (path: string): Promise<void> => {
      await page.getByRole('button', { name: 'Type a path' }).click();
      await page.getByLabel('Path', { exact: true }).fill(path);
      await page.keyboard.press('Enter');
    };
    await type(`${bucket}/both`);
    await page.getByRole('heading', { name: 'both', level: 2 }).waitFor();
    await type(`s3://${bucket}/dir`);
    await row(page, 'one.txt').waitFor();
    expect(new URL(page.url()).pathname).toBe(`/b/${bucket}/dir/`);
    await page.setInputFiles('#upload-files', [file('new.png', 'x')]);
    await row(page, 'new.png').waitFor();
    const { Contents } = await under.sdk().send(new ListObjectsV2Command({ Bucket: bucket, Prefix: 'dir' }));
    expect(Contents!.map(({ Key }) => Key)).toEqual(['dir/new.png', 'dir/one.txt']);
    // The path was no page of its own to go back to.
    await page.goBack();
    await page.getByRole('heading', { name: 'both', level: 2 }).waitFor();
  });

  it('is taken as a URI, too, where one goes to a bucket', async (test) => {
    const bucket = await makeBucket(under, ['dir/one.txt']);
    const page = await under.signedIn(test);
    await page.getByRole('button', { name: 'Go to bucket' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(`s3://${bucket}/dir/`);
    await page.getByRole('button', { name: 'Go', exact: true }).click();
    await row(page, 'one.txt').waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/b/${bucket}/dir/`);
  });
});
