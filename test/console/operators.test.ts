import { CreateBucketCommand, ListBucketsCommand } from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it, type TestContext } from 'vitest';
import { issueCertificate } from '../support/clients/certificates.ts';
import { exchange } from '../support/clients/raw-client.ts';
import { startTlsFront } from '../support/clients/tls-front.ts';
import { bucketName } from '../support/clients/clients.ts';
import { put } from '../support/storage/objects.ts';
import { startService } from '../support/programs/server.ts';
import { freePort } from '../support/runs/free-port.ts';
import { administer, makeKey, onData, type MadeKey } from '../support/storage/administration.ts';
import { expectAccessible, operatorsUnderTest } from './support/console.ts';
import { heapContains } from './support/heap.ts';

/** The operators' page, at the listener of operators. */

const under = operatorsUnderTest();

type Scope = 'read' | 'bill' | 'manage';

/** A new token. */
async function tokenOf(...scopes: readonly Scope[]): Promise<{ readonly name: string; readonly token: string }> {
  const name = bucketName();
  const options = scopes.flatMap((scope) => ['--scope', scope]);
  const { token } = await administer<{ token: string }>(under.service.place, 'operator', 'create', name, ...options);
  return { name, token };
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Profile' }).waitFor();
}

/** A page at a path, signed in with a new token. */
async function signedIn(
  test: TestContext,
  path: string,
  scopes: readonly Scope[] = ['manage'],
  options: BrowserContextOptions & { readonly in?: BrowserContext } = {},
): Promise<Page> {
  const page = await under.page(test, path, options);
  await signIn(page, (await tokenOf(...scopes)).token);
  return page;
}

/** A customer of its own with a project, a user and a key. */
async function madeProject(): Promise<MadeKey & { readonly customer: string; readonly project: string }> {
  const customer = `c-${bucketName()}`;
  const key = await makeKey(under.service.place, `shop:ci@${customer}`);
  return { ...key, customer, project: `shop@${customer}` };
}

const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });
const dialog = (page: Page) => page.getByRole('dialog');
/** Confirms what a dialog asks. */
const confirm = (page: Page, name: string) =>
  dialog(page).locator('footer').getByRole('button', { name, exact: true }).click();

/** What is said of the state of something beside its button. */
const stateOf = (page: Page, name: string): Promise<string> =>
  page
    .locator('.suspension')
    .filter({ has: page.getByRole('button', { name: new RegExp(`^(?:Suspend|Resume) ${name}$`) }) })
    .first()
    .locator('.badge')
    .innerText();

/** Asks for the audit log until it has a record with a text: records are written soon after the act. */
async function recorded(page: Page, text: string): Promise<void> {
  await expect
    .poll(async () => {
      await page.getByRole('button', { name: 'Show', exact: true }).click();
      return row(page, text).count();
    })
    .toBeGreaterThan(0);
}

/** What a key gets for a list of its buckets. */
const listing = (key: MadeKey): Promise<string> =>
  under
    .sdk(key)
    .send(new ListBucketsCommand({}))
    .then(
      () => 'allowed',
      (error: Error) => error.name,
    );

const get = (url: string, target: string, method = 'GET') =>
  exchange(url, { method, target, headers: [['host', new URL(url).host]] });

describe('the page of operators', () => {
  it('is served by the listener of operators, with a policy that allows nothing of others, and not by that of S3', async () => {
    const page = await get(under.origin, '/');
    expect([page.status, page.header('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]* src=)|https?:/);
    for (const target of ['/', '/customers/acme', '/favicon.svg', /src="([^"]+)"/.exec(page.text)![1]!]) {
      const answer = await get(under.origin, target);
      expect([target, answer.status]).toEqual([target, 200]);
      expect(answer.header('content-security-policy')).toBe(
        `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; ` +
          `form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
      );
      expect(answer.header('x-content-type-options')).toBe('nosniff');
      expect(answer.header('referrer-policy')).toBe('no-referrer');
      expect(answer.header('cross-origin-opener-policy')).toBe('same-origin');
      expect(answer.header('set-cookie')).toBeUndefined();
      const head = await get(under.origin, target, 'HEAD');
      expect([head.status, head.text, head.header('content-length')]).toEqual([200, '', String(answer.body.length)]);
      // Of S3, an address is a bucket, or an object of one.
      const elsewhere = await get(under.service.url, target);
      expect([target, elsewhere.header('content-type')]).toEqual([target, 'application/xml']);
      if (target !== '/') expect([target, elsewhere.status]).toEqual([target, 404]);
    }
    for (const target of ['/assets/missing.js', '/assets/../index.html', '/assets/..%2findex.html', '/index.html.br'])
      expect([target, (await get(under.origin, target)).status]).toEqual([target, 404]);
    const rebound = await exchange(under.origin, { method: 'GET', target: '/', headers: [['host', 'evil.example']] });
    expect(rebound.status).toBe(421);
  });
});

/** Everything that outlives a page, as text, and where the page has been. */
async function kept(context: BrowserContext, page: Page): Promise<string> {
  const inPage = await page.evaluate(async () =>
    JSON.stringify([
      { ...localStorage },
      { ...sessionStorage },
      document.cookie,
      location.href,
      history.state,
      await indexedDB.databases(),
      await caches.keys(),
      performance.getEntries().map(({ name }) => name),
    ]),
  );
  const debug = await context.newCDPSession(page);
  const { entries } = await debug.send('Page.getNavigationHistory');
  await debug.detach();
  return inPage + JSON.stringify(entries) + JSON.stringify(await context.storageState());
}

describe('signing in as an operator', () => {
  it('takes a token, which is then in no storage, cookie, address or history, and nowhere after signing out', async (test) => {
    const context = await under.context(test);
    const urls: string[] = [];
    context.on('request', (request) => urls.push(request.url() + (request.postData() ?? '')));
    const page = await under.page(test, '/', { in: context });
    await page.getByLabel('Token').waitFor();
    await expectAccessible(page);
    const { name, token } = await tokenOf('manage');
    await signIn(page, token);
    await heading(page, 'Customers').waitFor();
    await page.getByRole('link', { name: 'Audit log' }).click();
    await heading(page, 'Audit log').waitFor();
    await page.getByRole('link', { name: 'Profile' }).click();
    await page.getByText(name).waitFor();
    await expectAccessible(page);
    expect(urls.length).toBeGreaterThan(5);
    for (const text of [await kept(context, page), urls.join('\n'), await under.service.log()])
      expect(text).not.toContain(token.slice(9));
    expect(await page.content()).not.toContain(token.slice(9));
    // The snapshot would show it: while one is signed in, it does.
    expect(await heapContains(page, token.slice(9))).toBe(true);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    expect(await page.getByLabel('Token').inputValue()).toBe('');
    await expect.poll(() => heapContains(page, token.slice(9))).toBe(false);
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('is forgotten with a reload', async (test) => {
    const page = await signedIn(test, '/audit');
    await heading(page, 'Audit log').waitFor();
    await page.reload();
    await page.getByLabel('Token').waitFor();
    expect(await page.getByRole('link', { name: 'Profile' }).count()).toBe(0);
  });

  it('says in a sentence what is refused, and when a token ends while it is used', async (test) => {
    const page = await under.page(test);
    for (const wrong of ['nonsense', 'a b', 'ü', `stillage_${'A'.repeat(43)}`]) {
      await page.getByLabel('Token').fill(wrong);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').getByText('does not know this token').waitFor();
      expect(await page.getByLabel('Token').inputValue()).toBe('');
    }
    await expectAccessible(page);
    const { name, token } = await tokenOf('read');
    await signIn(page, token);
    await heading(page, 'Customers').waitFor();
    await administer(under.service.place, 'operator', 'remove', name);
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByText('no longer accepts this token').waitFor();
    await page.getByLabel('Token').waitFor();
    await expectAccessible(page);
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('ends for who does nothing for half an hour', async (test) => {
    const context = await under.context(test);
    await context.clock.install();
    const page = await signedIn(test, '/', ['read'], { in: context });
    await context.clock.fastForward('29:00');
    await page.getByRole('link', { name: 'Profile' }).waitFor();
    await context.clock.fastForward('03:00');
    await page.getByText('nothing happened for a while').waitFor();
  });
});

describe('an operator who may do everything', () => {
  it('pages through the customers, each of them once', async (test) => {
    const names = Array.from({ length: 101 }, () => `zz-${bucketName()}`).toSorted();
    for (const name of names) await administer(under.service.place, 'customer', 'create', name);
    const page = await signedIn(test, '/');
    const rows = page.locator('.records tbody tr');
    await expect.poll(() => rows.count()).toBe(100);
    const more = page.getByRole('button', { name: 'Show more' });
    for (let shown = 100; (await more.count()) > 0; shown = await rows.count()) {
      await more.click();
      await expect.poll(() => rows.count()).toBeGreaterThan(shown);
    }
    const links = await page.locator('.records tbody a').allTextContents();
    expect(links.filter((name) => name.startsWith('zz-'))).toEqual(names);
    expect(new Set(links).size).toBe(links.length);
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('goes from a customer to a project, its users and keys without secrets, and its use of quotas, by the keyboard', async (test) => {
    const { customer, project, ...key } = await madeProject();
    const [bucket, full] = [bucketName(), bucketName()];
    for (const Bucket of [bucket, full]) await under.sdk(key).send(new CreateBucketCommand({ Bucket }));
    await put(under.sdk(key), bucket, 'a.txt', 'x'.repeat(2048));
    await administer(under.service.place, 'quota', 'set', project, '--buckets', '7');
    await administer(under.service.place, 'quota', 'set', bucket, '--bytes', '4096', '--objects', '10');
    await administer(under.service.place, 'quota', 'set', full, '--bytes', '0', '--objects', '0');
    // The last use is written some time later.
    await expect
      .poll(() => administer<object>(under.service.place, 'key', 'show', key.accessKeyId))
      .toHaveProperty('used.service', 's3');
    const page = await signedIn(test, '/');
    await page.getByLabel('Name of a customer').fill(customer);
    await page.keyboard.press('Enter');
    await heading(page, customer).waitFor();
    await page.getByRole('link', { name: project }).press('Enter');
    await heading(page, project).waitFor();
    await page.getByText('2 of 7 buckets').waitFor();
    await row(page, bucket).getByText('of 4 KB').waitFor();
    await row(page, bucket).getByText('1 of 10 objects').waitFor();
    await row(page, full).getByText('0 of 0 objects').waitFor();
    const width = (name: string, at: number): Promise<string> =>
      row(page, name)
        .locator('.meter > div')
        .nth(at)
        .evaluate((bar) => (bar as HTMLElement).style.width);
    expect([await width(bucket, 1), await width(full, 1)]).toEqual(['10%', '100%']);
    await row(page, key.accessKeyId).getByText('Active').waitFor();
    await row(page, key.accessKeyId).getByText(/, S3$/).waitFor();
    await page.getByRole('table', { name: 'Users' }).getByText('ci', { exact: true }).waitFor();
    await expectAccessible(page);
    expect(await page.content()).not.toContain(key.secretAccessKey);

    await page.getByRole('link', { name: 'Usage by day' }).press('Enter');
    await heading(page, `Usage of ${project}`).waitFor();
    await row(page, 'Total').waitFor();
    await expectAccessible(page);
    await page.goBack();
    await heading(page, project).waitFor();
    expect(under.faultsOf(page)).toEqual([]);
  });

  it.for(['customer', 'project', 'user', 'key'] as const)(
    'suspends a %s once that is confirmed, which refuses its requests, and resumes it',
    async (kind, test) => {
      const { customer, project, ...key } = await madeProject();
      const name = { customer, project, user: key.user, key: key.accessKeyId }[kind];
      const path = kind === 'customer' ? `/customers/${customer}` : `/projects/${project}`;
      const page = await signedIn(test, path);
      expect(await listing(key)).toBe('allowed');
      const press = (verb: string) => page.getByRole('button', { name: `${verb} ${name}`, exact: true }).first();
      await press('Suspend').press('Enter');
      await dialog(page).getByText(`stillage ${kind} suspend ${name} --endpoint ${under.origin}`).waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'detached' });
      expect(await listing(key)).toBe('allowed');
      await press('Suspend').click();
      await confirm(page, 'Suspend');
      await page.getByText(`${name} is suspended.`).waitFor();
      await expect.poll(() => listing(key)).toBe('UserSuspended');
      expect(await stateOf(page, name)).toBe('Suspended');
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Audit log' }).click();
      await recorded(page, `${kind}: ${name}`);
      await page.goBack();
      // It is asked for anew.
      await press('Resume').waitFor();
      expect(await stateOf(page, name)).toBe('Suspended');
      await press('Resume').click();
      await confirm(page, 'Resume');
      await page.getByText(`${name} is active again.`).waitFor();
      expect(await stateOf(page, name)).toBe('Active');
      await expect.poll(() => listing(key)).toBe('allowed');
      expect(under.faultsOf(page)).toEqual([]);
    },
  );

  it.for(['customer', 'project', 'user'] as const)(
    'is not told that a %s is suspended which is not, nor that one is active which is suspended',
    async (kind, test) => {
      const { customer, project, ...key } = await madeProject();
      const name = { customer, project, user: key.user }[kind];
      const page = await signedIn(test, kind === 'customer' ? `/customers/${customer}` : `/projects/${project}`);
      const press = (verb: string) =>
        page
          .getByRole('button', { name: `${verb} ${name}`, exact: true })
          .first()
          .click();
      for (const [verb, before, outcome] of [
        ['Suspend', 'Active', 'allowed'],
        ['Resume', 'Suspended', 'UserSuspended'],
      ] as const) {
        const path = `**/v1/${kind}/${verb.toLowerCase()}`;
        const problem = { title: 'Service Unavailable', detail: 'The table is too busy to answer: try again.' };
        await page.route(path, (route) => route.fulfill({ status: 503, json: problem }));
        await press(verb);
        await confirm(page, verb);
        await dialog(page).getByRole('alert').waitFor();
        await page.keyboard.press('Escape');
        await dialog(page).waitFor({ state: 'detached' });
        expect([verb, await stateOf(page, name), await listing(key)]).toEqual([verb, before, outcome]);
        await page.unroute(path);
        await press(verb);
        await confirm(page, verb);
        await dialog(page).waitFor({ state: 'detached' });
        const after = verb === 'Suspend' ? 'UserSuspended' : 'allowed';
        await expect.poll(() => listing(key)).toBe(after);
      }
      expect(under.faultsOf(page)).toEqual([]);
    },
  );

  it('is told in the dialog why something cannot be done', async (test) => {
    const { customer, project, user } = await madeProject();
    const page = await signedIn(test, `/projects/${project}`);
    const button = page.getByRole('button', { name: `Suspend ${user}`, exact: true });
    await button.waitFor();
    await administer(under.service.place, 'user', 'remove', user);
    await button.click();
    await confirm(page, 'Suspend');
    await dialog(page).getByRole('alert').getByText('does not exist').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.goto(`${under.origin}/customers/no-such`);
    await signIn(page, (await tokenOf('manage')).token);
    await page.getByRole('alert').getByText('there is no customer').waitFor();
    expect(await page.getByText(customer).count()).toBe(0);
  });

  it('reads the audit log in pages, of a project or a bucket', async (test) => {
    const { project, ...key } = await madeProject();
    const bucket = bucketName();
    await under.sdk(key).send(new CreateBucketCommand({ Bucket: bucket }));
    const page = await signedIn(test, '/audit');
    await page.getByLabel('Only of a bucket').fill(bucket);
    const records = page.locator('.records tbody tr');
    await expect
      .poll(async () => {
        await page.getByRole('button', { name: 'Show', exact: true }).click();
        return records.allTextContents();
      })
      .toEqual([expect.stringContaining('CreateBucket')]);
    await page.getByLabel('Only of a bucket').fill('');
    await page.getByLabel('Only of a project').fill(project);
    await page.getByLabel('How far back').selectOption('An hour');
    await page.getByLabel('Only of a project').press('Enter');
    await records.filter({ hasText: key.accessKeyId }).getByText('CreateBucket').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Only of a project').fill('no@such');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('alert').getByText('there is no project').waitFor();
    // A page of the API looks at a thousand records: here at one, as if there were that many.
    const asked: unknown[] = [];
    await page.route('**/v1/audit', async (route) => {
      const given = route.request().postDataJSON() as { readonly after?: string };
      asked.push(given.after);
      const answer = await route.fetch();
      const whole = (await answer.json()) as { readonly records: readonly unknown[] };
      const [first, second] = whole.records;
      const part = given.after === undefined ? { records: [first], next: '2026-01-01 x' } : { records: [second] };
      await (given.after === undefined || given.after === '2026-01-01 x'
        ? route.fulfill({ json: { region: 'us-east-1', ...part } })
        : route.abort());
    });
    await page.getByLabel('Only of a project').fill('');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await expect.poll(() => records.count()).toBe(1);
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => records.count()).toBe(2);
    expect(asked).toEqual([undefined, '2026-01-01 x']);
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
    expect(under.faultsOf(page)).toEqual([]);
  });
});

describe('an operator of another scope', () => {
  it('read is offered no suspension, is told so, and would be refused', async (test) => {
    const { customer, project, ...key } = await madeProject();
    const page = await signedIn(test, `/projects/${project}`, ['read']);
    await page.getByText('Your token may look only').waitFor();
    await row(page, key.accessKeyId).getByText('Active').waitFor();
    await page.getByText(/^0 of [\d,]+ buckets$/).waitFor();
    expect(await page.getByRole('button', { name: /^Suspend/ }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Usage' }).count()).toBe(0);
    await expectAccessible(page);
    const { token } = await tokenOf('read');
    const refused = await page.evaluate(
      async ({ sent, body }) => {
        const headers = { authorization: `Bearer ${sent}`, 'content-type': 'application/json' };
        return (await fetch('/_stillage/admin/v1/customer/suspend', { method: 'POST', headers, body })).status;
      },
      { sent: token, body: JSON.stringify({ customer }) },
    );
    expect(refused).toBe(403);
    expect(await listing(key)).toBe('allowed');
    await page.goto(`${under.origin}/usage`);
    await signIn(page, token);
    await heading(page, 'Your token does not have the scope bill').waitFor();
    await expectAccessible(page);
  });

  it('bill sees usage of the project that it names, and is told what it lacks elsewhere', async (test) => {
    const { project } = await madeProject();
    const page = await signedIn(test, '/', ['bill']);
    await page.getByLabel('Project (project@customer)').fill(project);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await row(page, 'Total').waitFor();
    expect(await page.getByRole('link', { name: /Customers|Audit log/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Stillage' }).click();
    await heading(page, 'Your token does not have the scope read').waitFor();
    await expectAccessible(page);
    expect(under.faultsOf(page)).toEqual([]);
  });
});

it('is used through a proxy with TLS, at the origin of --admin-url', async (test) => {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-operators-'));
  const [adminPort, proxyPort] = [await freePort(), await freePort()];
  const origin = `https://localhost:${proxyPort}`;
  const service = await startService({ args: ['--admin-port', String(adminPort), '--admin-url', origin] });
  const proxy = await startTlsFront(adminPort, await issueCertificate(folder, ['localhost']), proxyPort);
  test.onTestFinished(async () => {
    await proxy.stop();
    await service.stop();
    await rm(folder, { recursive: true });
  });
  const { token } = await administer<{ token: string }>(
    onData(service.data),
    'operator',
    'create',
    'far',
    '--scope',
    'manage',
  );
  await administer(onData(service.data), 'customer', 'create', 'acme');
  const context = await under.context(test, { ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(`${origin}/customers/acme`);
  await signIn(page, token);
  await page.getByRole('button', { name: 'Suspend acme', exact: true }).click();
  await confirm(page, 'Suspend');
  await page.getByText('acme is suspended.').waitFor();
});

/** Each would run, or break out of its place, if text became markup somewhere. */
const hostile = [
  '<img src=x onerror="globalThis.broken=1">',
  '"><script>globalThis.broken=1</script>',
  '{{constructor.constructor("globalThis.broken=1")()}}',
  'a\u202egnp.exe',
] as const;

/** Returns traces of foreign content: a script that ran, elements that were created. */
const marks = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const selector = 'script:not([src^="/assets/"]), style, img, [onerror], a[href^="javascript:"]';
    const flag = globalThis as { broken?: unknown };
    return [
      ...(flag.broken === undefined ? [] : ['a script ran']),
      ...[...document.querySelectorAll(selector)].map((element) => element.outerHTML),
    ];
  });

it('what customers wrote is text to operators: display names, user agents and addresses', async (test) => {
  const { customer, ...key } = await madeProject();
  for (const [index, text] of hostile.entries())
    await administer(under.service.place, 'project', 'create', `p${index}@${customer}`, '--display-name', text);
  const headers = [
    ['host', new URL(under.service.url).host],
    ['user-agent', hostile[0]],
    ['content-length', '0'],
  ] as const;
  await exchange(under.service.url, { method: 'PUT', target: `/${bucketName()}`, headers: [...headers], body: '' });
  const page = await signedIn(test, `/customers/${customer}`);
  for (const text of hostile.slice(0, 3)) await page.getByText(text, { exact: true }).waitFor();
  // The mark that turns the direction of text is made visible.
  await page.getByText('a\ufffdgnp.exe').waitFor();
  await page.getByRole('link', { name: `p0@${customer}` }).click();
  await page.locator('dd').getByText(hostile[0], { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Audit log' }).click();
  await recorded(page, `displayName: ${hostile[0]}`);
  expect(await marks(page)).toEqual([]);
  for (const text of hostile) {
    await page.goto(`${under.origin}/customers/${encodeURIComponent(text)}`);
    await signIn(page, (await tokenOf('read')).token);
    await page.getByRole('alert').waitFor();
    expect(await page.title()).toContain('Customers');
    expect(await marks(page)).toEqual([]);
  }
  expect(await listing(key)).toBe('allowed');
  expect(under.faultsOf(page)).toEqual([]);
});

it.for(['light', 'dark'] as const)(
  'every view of operators is accessible in %s, in German and as wide as a phone',
  async (colorScheme, test) => {
    const { customer, project } = await madeProject();
    const page = await under.page(test, '/', {
      ...{ viewport: { width: 390, height: 844 }, locale: 'de-DE', reducedMotion: 'reduce', colorScheme },
    });
    await page.getByLabel('Zugangstoken').fill((await tokenOf('manage')).token);
    await page.getByRole('button', { name: 'Anmelden' }).click();
    await page.getByRole('heading', { name: 'Kunden', level: 1 }).waitFor();
    const go = (path: string): Promise<void> =>
      page.evaluate((to) => {
        history.pushState(null, '', to);
        dispatchEvent(new PopStateEvent('popstate'));
      }, path);
    for (const [path, text] of [
      ['/', 'Angelegt'],
      [`/customers/${customer}`, project],
      [`/projects/${project}`, 'Belegung der Kontingente'],
      [`/usage/${project}`, 'Summe'],
      ['/audit', 'customer create'],
      ['/profile', 'Darf alles sehen und ändern'],
      ['/nowhere', 'Unter dieser Adresse ist nichts.'],
    ] as const) {
      await go(path);
      await page.getByText(text).first().waitFor({ state: 'attached' });
      await expectAccessible(page);
      expect([path, await page.evaluate(() => document.getElementById('main')!.scrollWidth <= innerWidth)]).toEqual([
        path,
        true,
      ]);
    }
    expect(under.faultsOf(page)).toEqual([]);
  },
);
