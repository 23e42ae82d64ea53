import type { Page } from 'playwright-core';
import { alice } from '../../support/programs/server.ts';

export interface Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Signs in by the form. */
export async function signIn(page: Page, key: Key = alice, keep = false): Promise<void> {
  await page.getByLabel('Access key').fill(key.accessKeyId);
  await page.getByLabel('Secret key').fill(key.secretAccessKey);
  if (keep) await page.getByLabel('Keep me signed in').check();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Profile' }).waitFor();
}
