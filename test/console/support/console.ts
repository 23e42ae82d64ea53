import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, type TestContext } from 'vitest';
import { axeFindings } from './axe.ts';
import { signIn, type Key } from './sign-in.ts';
import { chromiumPath } from '../../support/clients/chromium.ts';
import type { S3Client } from '@aws-sdk/client-s3';
import { onData, type Place } from '../../support/storage/administration.ts';
import { sdk } from '../../support/clients/clients.ts';
import { deployed, deployedLog, isCloud, usualDomains } from '../../support/cloud/deployed.ts';
import { freePort } from '../../support/runs/free-port.ts';
import { patience } from '../../support/runs/patience.ts';
import { skip } from '../../support/programs/programs.ts';
import { alice, startService } from '../../support/programs/server.ts';

/** Quiet, and without anything that a test machine's browser would ask the network for. */
const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The service behind a console: a process, or a deployment in the cloud (`vitest.cloud.config.ts`). */
interface ServiceBehind {
  readonly url: string;
  /** Websites have their names below it. */
  readonly websiteDomain: string;
  /** Where it is administered. */
  readonly place: Place;
  /** All that it has written to its log. */
  log(): Promise<string>;
  stop(): Promise<unknown>;
}

export { signIn };

/** A service with its console, and a browser. */
export class ConsoleUnderTest {
  service!: ServiceBehind;
  origin = '';
  browser: Browser | undefined;
  private readonly args: readonly string[];
  /** The option of the port that pages are served at. */
  private readonly portOption: '--console-port' | '--admin-port';
  private folder = '';
  private readonly pages: { readonly page: Page; readonly faults: string[] }[] = [];

  constructor(args: readonly string[], portOption: '--console-port' | '--admin-port' = '--console-port') {
    this.args = args;
    this.portOption = portOption;
  }

  async start(): Promise<void> {
    if (isCloud) await this.deploy();
    else await this.startHere();
    this.folder = await mkdtemp(join(tmpdir(), 'stillage-console-'));
    const executablePath = chromiumPath();
    if (executablePath !== undefined) {
      this.browser = await chromium.launch({ executablePath, args, downloadsPath: this.folder, timeout: patience });
    }
  }

  private async startHere(): Promise<void> {
    const port = await freePort();
    const service = await startService({ args: [this.portOption, String(port), ...this.args] });
    this.origin = `http://127.0.0.1:${port}`;
    this.service = {
      url: service.url,
      websiteDomain: 'website.localhost',
      place: onData(service.data),
      log: async () => service.output.stdout + service.output.stderr,
      stop: () => service.stop(),
    };
  }

  /** Files that want the same settings share a deployment. */
  private async deploy(): Promise<void> {
    const { url, consoleUrl, place } = await deployed({ args: this.args }, true);
    this.origin = consoleUrl!;
    this.service = {
      ...{ url, place, websiteDomain: usualDomains.websiteDomain },
      log: () => deployedLog(url),
      stop: async () => undefined,
    };
  }

  async stop(): Promise<void> {
    await this.browser?.close();
    await this.service.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Returns an SDK client, to prepare data and to check the results. */
  sdk(key: Key = alice): S3Client {
    return sdk(this.service, key);
  }

  /** Returns a new browser context. Skips the test without Chromium. */
  async context(test: TestContext, options: BrowserContextOptions = {}): Promise<BrowserContext> {
    if (this.browser === undefined) return skip(test, 'no chromium on the PATH') as never;
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(patience);
    test.onTestFinished(() => context.close());
    return context;
  }

  /** A page at a path, which must not break a rule of its own while it is used. */
  async page(
    test: TestContext,
    path = '/',
    options: BrowserContextOptions & { readonly in?: BrowserContext } = {},
  ): Promise<Page> {
    const { in: given, ...rest } = options;
    const page = await (given ?? (await this.context(test, rest))).newPage();
    const faults: string[] = [];
    this.pages.push({ page, faults });
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        faults.push(message.text());
    });
    await page.goto(`${this.origin}${path}`);
    return page;
  }

  /** Returns a page that is signed in. */
  async signedIn(
    test: TestContext,
    path = '/',
    options: BrowserContextOptions & { readonly key?: Key; readonly keep?: boolean; readonly in?: BrowserContext } = {},
  ): Promise<Page> {
    const { key = alice, keep = false, ...rest } = options;
    const page = await this.page(test, path, rest);
    await signIn(page, key, keep);
    return page;
  }

  /** Returns the errors of a page: exceptions of scripts, and violations of the content security policy. */
  faultsOf(page: Page): readonly string[] {
    return this.pages.find((each) => each.page === page)?.faults ?? [];
  }
}

/** Expects no findings of axe: WCAG 2.2 AA and best practices. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await axeFindings(page)).toEqual([]);
}

/** Starts a console before the tests of a file, and stops it after them. */
export function consoleUnderTest(...args: readonly string[]): ConsoleUnderTest {
  return startedBefore(new ConsoleUnderTest(args));
}

/** Does the same with the operators' page, in place of the console. */
export function operatorsUnderTest(): ConsoleUnderTest {
  return startedBefore(new ConsoleUnderTest([], '--admin-port'));
}

function startedBefore(console: ConsoleUnderTest): ConsoleUnderTest {
  beforeAll(() => console.start());
  afterAll(() => console.stop());
  return console;
}
