import { describe, expect, it } from 'vitest';
import { put } from '../support/storage/objects.ts';
import { runAt } from '../support/storage/administration.ts';
import { makeBucket } from './support/buckets.ts';
import { heapContains } from './support/heap.ts';
import { consoleUnderTest, expectAccessible } from './support/console.ts';

const under = consoleUnderTest('--monitoring-seconds', '0.2');

describe('monitoring', () => {
  it('shows the current values while it is off, and the history once it is on', async (test) => {
    const bucket = await makeBucket(under, ['a', 'b']);
    const page = await under.signedIn(test, `/settings/${bucket}/monitoring`);
    const figures = page.locator('.figures');
    await figures.getByText('24 B').waitFor();
    await page.getByText('Monitoring is off').waitFor();
    await expectAccessible(page);
    expect(await page.getByText('Nothing was recorded in this period').count()).toBe(2);
    await page.getByRole('switch', { name: 'Record this bucket’s history' }).click();
    await expect
      .poll(async () => {
        await page.getByLabel('Period').selectOption('3 hours');
        const metrics = ['BucketSizeBytes', 'NumberOfObjects'] as const;
        const both = metrics.map((metric) => page.waitForResponse((response) => response.url().includes(metric)));
        await page.getByLabel('Period').selectOption('24 hours');
        await Promise.all(both);
        await page.waitForLoadState('networkidle');
        return page.locator('.chart-line').count();
      })
      .toBe(2);
    await page.getByRole('img', { name: 'Objects: from 2 to 2' }).waitFor();
    await page.getByText('Show as a table').last().click();
    await page.getByRole('cell', { name: '2', exact: true }).waitFor();
    await page.getByRole('img', { name: /^Size/ }).hover();
    await page.locator('.chart-tip').getByText('24 B').waitFor();
    await expectAccessible(page);
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('asks for preset and custom periods, in no more datapoints than the service returns', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/settings/${bucket}/monitoring`);
    await page.locator('.figures').getByText('0 B').waitFor();
    const asked = async (act: () => Promise<unknown>): Promise<readonly [days: number, period: number]> => {
      const [request] = await Promise.all([
        page.waitForRequest(/metric=BucketSizeBytes/),
        page.waitForRequest(/metric=NumberOfObjects/),
        act(),
      ]);
      const { searchParams: query } = new URL(request.url());
      const [start, end] = ['start', 'end'].map((name) => Date.parse(query.get(name)!)) as [number, number];
      const period = Number(query.get('period'));
      expect(period % 300).toBe(0);
      expect((end - start) / 1_000 / period).toBeLessThanOrEqual(1_440);
      return [Math.round((end - start) / 86_400_000), period];
    };
    const choose = (name: string) => () => page.getByLabel('Period').selectOption(name);
    expect(await asked(choose('7 days'))).toEqual([7, 3_600]);
    expect(await asked(choose('30 days'))).toEqual([30, 3_600 * 6]);
    expect(await asked(choose('1 year'))).toEqual([365, 86_400]);
    await asked(choose('From … to …'));
    await asked(() => page.getByLabel('From', { exact: true }).fill('2024-01-01T00:00'));
    expect(await asked(() => page.getByLabel('To', { exact: true }).fill('2024-03-01T00:00'))).toEqual([60, 86_400]);
    await page.getByLabel('To', { exact: true }).fill('2023-03-01T00:00');
    await page.getByText('The end must be after the beginning').waitFor();
    await page.getByLabel('To', { exact: true }).fill('2024-03-01T00:00');
    await Promise.all([
      // Those of the last period may still be asked for.
      page.waitForRequest(/statistic=Maximum/),
      page.getByLabel('Statistic').selectOption('Maximum'),
    ]);
  });
});

describe('alarms', () => {
  it('need monitoring, are set with conditions and actions, and show their state and history', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/settings/${bucket}/alarms`);
    const add = page.getByRole('button', { name: 'Add alarm' });
    await page.getByText('No alarms.').waitFor();
    expect(await add.isDisabled()).toBe(true);
    await page.getByRole('switch', { name: 'Record this bucket’s history' }).click();
    await expect.poll(() => add.isDisabled()).toBe(false);
    await add.click();
    const dialog = page.getByRole('dialog');
    const save = dialog.getByRole('button', { name: 'Save' });
    await dialog.getByLabel('Name').fill(`full of ${bucket}`);
    expect(await save.isDisabled()).toBe(true);
    await dialog.getByLabel('Description').fill('More than one object');
    await dialog.getByLabel('Metric').selectOption('Number of objects');
    await dialog.getByLabel('Threshold').fill('1');
    await dialog.getByLabel('When it goes to alarm').fill('log:\njavascript:alert(1)');
    await dialog.getByText('javascript:alert(1) is not log:').waitFor();
    expect(await save.isDisabled()).toBe(true);
    await dialog.getByLabel('When it goes to alarm').fill('log:\nhttps://hooks.example.test/full');
    await dialog.getByLabel('Crossed in at least').fill('2');
    await dialog.getByText('At most as many as there are periods').waitFor();
    expect(await save.isDisabled()).toBe(true);
    await dialog.getByLabel('Crossed in at least').fill('1');
    await dialog.getByText(/curl -X PUT .*<Metric>NumberOfObjects<\/Metric>.*alarm=&name=full/).waitFor();
    await expectAccessible(page);
    await save.click();
    await page.getByRole('heading', { name: 'The secret of the webhook' }).waitFor();
    const secret = (await dialog.locator('code').textContent())!;
    expect(secret.length).toBeGreaterThan(20);
    await expectAccessible(page);
    await dialog.locator('footer').getByRole('button', { name: 'Close' }).click();

    const alarm = page.locator('.alarm');
    await alarm.getByText('Number of objects (Maximum) is greater than 1').waitFor();
    await alarm.getByText('1 of 1 periods of 5 minutes').waitFor();
    await alarm.getByText('log:, https://hooks.example.test/full').waitFor();
    await Promise.all(['a', 'b'].map((key) => put(under.sdk(), bucket, key, 'x')));
    await expect
      .poll(async () => {
        await page.getByRole('tab', { name: 'CORS' }).click();
        await page.getByRole('tab', { name: 'Alarms' }).click();
        return alarm.locator('.badge').first().textContent();
      })
      .toBe('Alarm');
    await alarm.getByText('Threshold crossed').waitFor();
    await alarm.getByText('History').click();
    await alarm.locator('.history').getByText('State', { exact: true }).first().waitFor();
    await expectAccessible(page);

    await alarm.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Metric').selectOption('Size in bytes');
    await dialog.getByLabel('Threshold').fill('1.5');
    await dialog.getByLabel('Unit').selectOption('GB');
    await save.click();
    await alarm.getByText('Size in bytes (Maximum) is greater than 1.5 GB').waitFor();
    await alarm.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Statistic').selectOption('Number of samples');
    await dialog.getByLabel('Threshold').fill('2048');
    await save.click();
    await alarm.getByText('Size in bytes (Number of samples) is greater than 2,048').waitFor();
    await alarm.getByRole('button', { name: 'Edit' }).click();
    expect(await dialog.getByLabel('Threshold').inputValue()).toBe('2048');
    await save.click();
    await alarm.getByText('Size in bytes (Number of samples) is greater than 2,048').waitFor();
    await alarm.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Its history is deleted with it').waitFor();
    await dialog.getByText('curl -X DELETE').waitFor();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('No alarms.').waitFor();
    expect(await page.locator('body').innerText()).not.toContain(secret);
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('forget the secret of a webhook once it was shown', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/settings/${bucket}/alarms`);
    await page.getByRole('switch', { name: 'Record this bucket’s history' }).click();
    await page.getByRole('button', { name: 'Add alarm' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('secretive');
    await dialog.getByLabel('Threshold').fill('1');
    await dialog.getByLabel('When it goes to alarm').fill('https://hooks.example.test/full');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'The secret of the webhook' }).waitFor();
    const secret = (await dialog.locator('code').textContent())!;
    expect(await heapContains(page, secret)).toBe(true);
    await dialog.locator('footer').getByRole('button', { name: 'Close' }).click();
    await page.locator('.alarm').getByText('https://hooks.example.test/full').waitFor();
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await expect.poll(() => heapContains(page, secret)).toBe(false);
    const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href]));
    expect(kept + (await under.service.log())).not.toContain(secret);
  });

  it('are nobody’s without the privilege, and the page says who can grant it', async (test) => {
    const bucket = await makeBucket(under, []);
    const turn = (verb: string) => runAt(under.service.place, ['user', verb, 'main:alice@example.test', 'monitoring']);
    expect(await turn('revoke')).toMatchObject({ code: 0 });
    test.onTestFinished(async () => void (await turn('grant')));
    const page = await under.signedIn(test, `/settings/${bucket}/alarms`);
    const told = page.getByText('The operator of the service can grant it');
    await expect
      .poll(async () => {
        await page.getByRole('tab', { name: 'CORS' }).click();
        await page.getByRole('tab', { name: 'Alarms' }).click();
        return told.count();
      })
      .toBe(1);
    await page.getByRole('tab', { name: 'Monitoring' }).click();
    await page.getByText('The operator of the service can grant it').waitFor();
    await expectAccessible(page);
  });
});
