import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { writeXml } from '../../../console/s3/xml.ts';
import { metricData } from '../../../shared/documents/monitoring.ts';
import { signIn } from '../support/sign-in.ts';
import { sample, samplePerson } from './sample-data.ts';

/** A view: its path, and the actions before the picture is taken. */
export interface View {
  readonly name: string;
  readonly path: string;
  readonly act?: (page: Page) => Promise<void>;
  /** True: before signing in. */
  readonly isPublic?: true;
}

const button = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const tab = (name: string) => (page: Page) => page.getByRole('tab', { name, exact: true }).click();
const frame = (page: Page) => page.frameLocator('.preview-frame');
const main = `/b/${sample.main}/`;
const settings = (section: string, bucket: string = sample.main): string => `/settings/${bucket}/${section}`;

/** Uploads a file of 24 MB, which is sent in parts. From the disk: to hand so many bytes to the browser takes long. */
async function uploadLarge(page: Page, name: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-view-'));
  await writeFile(join(folder, name), Buffer.alloc(24 * 1024 ** 2));
  page.once('close', () => void rm(folder, { recursive: true }));
  await page.setInputFiles('#upload-files', join(folder, name));
}

/** Every page of the console, with its dialogs and its empty, loading and failing states. */
export const views: readonly View[] = [
  { name: 'sign-in', path: '/', isPublic: true },
  {
    name: 'sign-in-refused',
    path: '/',
    isPublic: true,
    act: async (page) => {
      await page.getByLabel('Access key').fill('AKALICE');
      await page.getByLabel('Secret key').fill('not the secret');
      await button(page, 'Sign in');
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'buckets', path: '/' },
  { name: 'create-bucket', path: '/', act: (page) => button(page, 'Create bucket') },
  {
    name: 'delete-bucket',
    path: '/',
    act: async (page) => {
      await page.getByRole('button', { name: `Actions for ${sample.main}`, exact: true }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await page.getByLabel('Type the bucket').waitFor();
    },
  },
  { name: 'objects', path: main },
  { name: 'objects-deleted', path: `${main}?deleted`, act: (page) => page.getByText('draft.txt').first().waitFor() },
  { name: 'objects-empty', path: `/b/${sample.empty}/` },
  { name: 'objects-missing', path: '/b/no-such-bucket/', act: (page) => page.getByRole('alert').waitFor() },
  {
    name: 'objects-loading',
    path: '/',
    act: async (page) => {
      await page.route(/list-type=2/, () => undefined);
      await page.getByRole('link', { name: sample.main }).last().click();
      await page.locator('.path-bar').waitFor();
    },
  },
  {
    name: 'objects-selected',
    path: main,
    act: async (page) => {
      await page.getByRole('grid').focus();
      await page.keyboard.press('Control+a');
    },
  },
  {
    name: 'object-menu',
    path: main,
    act: (page) => page.getByText('sailing-ship.jpg').click({ button: 'right' }),
  },
  {
    name: 'preview-image',
    path: `${main}?o=sailing-ship.jpg`,
    act: (page) => frame(page).locator('img').waitFor(),
  },
  {
    name: 'preview-pdf',
    path: `${main}?o=loan-agreement.pdf`,
    act: (page) => frame(page).locator('canvas').first().waitFor(),
  },
  {
    name: 'preview-table',
    path: `${main}?o=inventory.csv`,
    act: (page) => frame(page).getByText('Sextant').waitFor(),
  },
  { name: 'properties', path: `${main}?o=sailing-ship.jpg`, act: tab('Properties') },
  { name: 'versions', path: `${main}?o=opening-hours.txt`, act: tab('Versions') },
  { name: 'access', path: `${main}?o=sailing-ship.jpg`, act: tab('Access') },
  {
    name: 'links',
    path: `${main}?o=sailing-ship.jpg`,
    act: async (page) => {
      await tab('Links')(page);
      await button(page, 'Make a link');
      await page.getByText('Copy it now').waitFor();
    },
  },
  {
    name: 'folder-links',
    path: main,
    act: async (page) => {
      await page.getByText('photographs').click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Public link' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'rename',
    path: main,
    act: async (page) => {
      await page.getByText('exhibitions').click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Rename' }).click();
    },
  },
  { name: 'settings-overview', path: settings('overview') },
  {
    name: 'settings-monitoring',
    path: settings('monitoring'),
    act: async (page) => {
      await page.locator('.chart-line').first().waitFor();
      const chart = await page.locator('.chart').first().boundingBox();
      if (chart !== null) await page.mouse.move(chart.x + chart.width * 0.6, chart.y + 60);
    },
  },
  { name: 'settings-monitoring-empty', path: settings('monitoring', sample.empty) },
  { name: 'settings-alarms', path: settings('alarms') },
  {
    name: 'settings-alarm',
    path: settings('alarms'),
    act: (page) => button(page, 'Add alarm'),
  },
  { name: 'settings-access', path: settings('access') },
  { name: 'settings-lifecycle', path: settings('lifecycle') },
  { name: 'settings-lock', path: settings('lock') },
  { name: 'settings-website', path: settings('website', sample.site) },
  {
    name: 'settings-redirect',
    path: settings('website', sample.site),
    act: (page) => button(page, 'Add redirect rule'),
  },
  { name: 'settings-cors', path: settings('cors', sample.site) },
  { name: 'settings-cors-rule', path: settings('cors', sample.site), act: (page) => button(page, 'Add rule') },
  { name: 'settings-events', path: settings('events') },
  { name: 'settings-events-webhook', path: settings('events'), act: (page) => button(page, 'Add webhook') },
  { name: 'settings-logs', path: settings('logs') },
  { name: 'settings-logs-change', path: settings('logs'), act: (page) => button(page, 'Write an access log') },
  { name: 'transfers-empty', path: '/transfers' },
  {
    name: 'transfers',
    path: main,
    act: async (page) => {
      await page.route(/partNumber=2/, () => undefined);
      // An earlier picture has already uploaded it.
      await page.addLocatorHandler(page.getByRole('button', { name: 'Replace' }), (replace) => replace.click());
      await uploadLarge(page, 'guided-tour.mp4');
      await page.setInputFiles('#upload-files', {
        name: 'poster.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('x'),
      });
      await page.getByRole('link', { name: /Transfers/ }).click();
      await page.getByText('16 MB of 24 MB').waitFor({ timeout: 60_000 });
    },
  },
  {
    name: 'transfers-unfinished',
    path: main,
    act: async (page) => {
      await page.route(/partNumber=2/, (route) => route.abort('connectionrefused'));
      await uploadLarge(page, 'lecture.mp4');
      await page.getByRole('link', { name: /Transfers|Übertragungen/ }).click();
      await page.getByText(/16 MB (?:of|von) 24 MB/).waitFor({ timeout: 60_000 });
      await page.getByRole('link', { name: /Profil/ }).click();
      await page.getByRole('button', { name: /Sign out|Abmelden/ }).click();
      await page.getByRole('button', { name: /Stop and sign out|Anhalten und abmelden/ }).click();
      await signIn(page);
      await page.getByRole('link', { name: /Transfers|Übertragungen/ }).click();
      await page.locator('.job').waitFor();
    },
  },
  {
    name: 'unreachable',
    path: `${main}?p=drafts%2F..%2F&o=drafts%2F..%2Fnotes.txt`,
  },
  { name: 'activity', path: main, act: (page) => page.getByRole('link', { name: 'Activity' }).click() },
  { name: 'people', path: '/people', act: (page) => page.getByText('Read, write, delete and list').waitFor() },
  {
    name: 'people-create',
    path: '/people',
    act: async (page) => {
      await button(page, 'Create user');
      await page.getByLabel('Name of the user').fill('picture-desk');
    },
  },
  {
    name: 'people-user',
    path: `/people/${samplePerson}`,
    act: async (page) => {
      await page.getByText('Last used: ').waitFor();
      await page.getByText('Read, write, delete and list').waitFor();
      await button(page, 'Find out');
      await page.locator('.rights li').first().waitFor();
    },
  },
  {
    name: 'people-policy',
    path: `/people/${samplePerson}`,
    act: async (page) => {
      await button(page, 'Edit access');
      await page.getByLabel('As JSON').check();
    },
  },
  { name: 'people-rotate', path: `/people/${samplePerson}`, act: (page) => page.getByText('Rotate …').first().click() },
  {
    name: 'people-delete',
    path: `/people/${samplePerson}`,
    act: async (page) => {
      await button(page, 'Delete user');
      await page.getByRole('dialog').waitFor();
    },
  },
  { name: 'profile', path: '/profile' },
  { name: 'shortcuts', path: '/', act: (page) => page.keyboard.press('?') },
  { name: 'not-found', path: '/nowhere' },
];

/** Answers requests for the history of a bucket: a new service has none to show. All else is the service's own. */
export async function inventHistory(page: Page, origin: string): Promise<void> {
  await page.route(new RegExp(`/${sample.main}\\?.*metric-data`), (route: Route) => {
    const url = new URL(route.request().url());
    const [start, end] = ['start', 'end'].map((name) => Date.parse(url.searchParams.get(name) ?? '')) as [
      number,
      number,
    ];
    const period = Number(url.searchParams.get('period')) * 1_000;
    const isBytes = url.searchParams.get('metric') === 'BucketSizeBytes';
    const first = Math.ceil(start / period) * period;
    const count = Math.floor((end - first) / period);
    const value = (index: number): number => {
      const grown = index / count + Math.sin(index / 9) / 12 + (index > count * 0.7 ? 0.4 : 0);
      return isBytes ? Math.round((2.1 + grown) * 1024 ** 3) : Math.round(1_180 + grown * 420);
    };
    const datapoints = Array.from({ length: count }, (_, index) => ({
      at: first + index * period,
      value: value(index),
    }));
    const body = writeXml(metricData, {
      bucket: sample.main,
      metric: url.searchParams.get('metric')!,
      statistic: url.searchParams.get('statistic')!,
      unit: isBytes ? 'Bytes' : 'Count',
      period: period / 1_000,
      current: { at: end, value: value(count - 1) },
      datapoints,
    });
    const headers = { 'access-control-allow-origin': origin, 'access-control-expose-headers': '*' };
    return route.fulfill({ status: 200, headers, contentType: 'application/xml', body });
  });
}
