import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { setVersioning, versionsOf } from '../support/storage/objects.ts';
import { makeBucket, row } from './support/buckets.ts';
import { consoleUnderTest } from './support/console.ts';

const under = consoleUnderTest();

async function keysOf(bucket: string): Promise<string[]> {
  const { Contents = [] } = await under.sdk().send(new ListObjectsV2Command({ Bucket: bucket }));
  return Contents.map(({ Key }) => Key!);
}

/** Requests that the service has executed, and whose responses are held back. */
interface Held {
  readonly count: () => number;
  readonly release: () => void;
}

/** Holds the answers to requests that match. */
async function holdAnswers(page: Page, matching: RegExp): Promise<Held> {
  const waiting: (() => void)[] = [];
  let isOpen = false;
  await page.route(matching, async (route) => {
    if (isOpen || route.request().method() === 'OPTIONS') return route.continue();
    const response = await route.fetch();
    await new Promise<void>((resolve) => waiting.push(resolve));
    await route.fulfill({ response }).catch(() => undefined);
  });
  return {
    count: () => waiting.length,
    release: () => {
      isOpen = true;
      for (const each of waiting.splice(0)) each();
    },
  };
}

async function choose(page: Page, name: string, item: string): Promise<void> {
  await row(page, name).click({ button: 'right' });
  await page.getByRole('menuitem', { name: item }).click();
}

/** Pauses or stops a transfer, and lets the answers come. */
async function interrupt(page: Page, how: 'Pause' | 'Stop', held: Held): Promise<void> {
  await page.getByRole('link', { name: /Transfers/ }).click();
  await page.getByRole('button', { name: how }).click();
  await page.getByText(how === 'Pause' ? 'paused' : 'stopped').waitFor();
  held.release();
}

/** More than are worked on at the same time. */
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const below = (folder: string): string[] => names.map((name) => `${folder}/${name}`);

describe('a transfer that is interrupted while the service acts', () => {
  it('takes every deletion back, and leaves no marker', async (test) => {
    const bucket = await makeBucket(under, below('f'));
    await setVersioning(under.sdk(), bucket, 'Enabled');
    for (const how of ['Pause', 'Stop'] as const) {
      const page = await under.signedIn(test, `/b/${bucket}/`);
      const held = await holdAnswers(page, /\?delete=/);
      await choose(page, 'f', 'Delete');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await expect.poll(held.count).toBe(1);
      expect(await keysOf(bucket)).toEqual([]);
      await interrupt(page, how, held);
      await page.locator('.job').getByRole('button', { name: 'Undo' }).click();
      await expect.poll(() => keysOf(bucket)).toEqual(below('f'));
      expect((await versionsOf(under.sdk(), bucket)).filter(({ isMarker }) => isMarker)).toEqual([]);
      expect(under.faultsOf(page)).toEqual([]);
      await page.close();
    }
  });

  it('renames and copies once, and asks about no name that it made itself', async (test) => {
    const bucket = await makeBucket(under, below('f'));
    const page = await under.signedIn(test, `/b/${bucket}/`);
    const done = (kind: string) => page.locator('.job').filter({ hasText: kind }).getByText('done').waitFor();

    const renames = await holdAnswers(page, /renameObject/);
    await choose(page, 'f', 'Rename');
    await page.getByLabel('New name').fill('g');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(renames.count).toBe(5);
    await interrupt(page, 'Pause', renames);
    await page.getByRole('button', { name: 'Resume' }).click();
    await done('Rename');
    expect(await keysOf(bucket)).toEqual(below('g'));

    await page.goBack();
    await row(page, 'g').waitFor();
    const copies = await holdAnswers(page, new RegExp(`/${bucket}/copied/`));
    await choose(page, 'g', 'Copy to');
    await page.getByRole('textbox', { name: 'Folder' }).fill('copied');
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await expect.poll(copies.count).toBe(5);
    await interrupt(page, 'Pause', copies);
    await page.getByRole('button', { name: 'Resume' }).click();
    await done('Copy');
    expect(await keysOf(bucket)).toEqual([...below('copied/g'), ...below('g')]);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(under.faultsOf(page)).toEqual([]);
  });
});
