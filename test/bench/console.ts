import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { inventedFolder } from '../console/support/invented-folder.ts';
import { chromiumPath } from '../support/clients/chromium.ts';
import { sdk } from '../support/clients/clients.ts';
import { freePort } from '../support/runs/free-port.ts';
import { alice, startService } from '../support/programs/server.ts';

const rounds = 5;

/** How long the console takes to show the buckets, and to answer input in a folder with many keys in view, in Chromium. */
export async function benchConsole(keys: number): Promise<void> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) throw new Error('There is no Chromium on the PATH.');
  const port = await freePort();
  const service = await startService({ args: ['--console-port', String(port)] });
  const args = ['--headless', '--no-sandbox', '--disable-gpu'];
  const browser = await chromium.launch({ executablePath, args, timeout: 60_000 });
  const origin = `http://127.0.0.1:${port}`;
  try {
    const client = sdk(service);
    for (let number = 0; number < 20; number++) {
      await client.send(new CreateBucketCommand({ Bucket: `bench-${number}` }));
    }
    const loads: { form: number; list: number; again: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const context = await browser.newContext();
      loads.push(await load(context, origin));
      await context.close();
    }
    for (const [name, part] of [
      ['the sign-in form, nothing cached', 'form'],
      ['the list of buckets after signing in', 'list'],
      ['the list of buckets after a reload, signed in', 'again'],
    ] as const) {
      report(
        name,
        loads.map((each) => each[part]),
      );
    }
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await inFolder(context, origin, service.url, keys);
  } finally {
    await browser.close();
    await service.stop();
  }
}

async function signIn(page: Page, keep: boolean): Promise<void> {
  await page.getByLabel('Access key').fill(alice.accessKeyId);
  await page.getByLabel('Secret key').fill(alice.secretAccessKey);
  if (keep) await page.getByLabel('Keep me signed in').check();
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function load(context: BrowserContext, origin: string): Promise<{ form: number; list: number; again: number }> {
  const page = await context.newPage();
  const timed = async (act: () => Promise<unknown>, shown: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await act();
    await shown();
    return performance.now() - began;
  };
  const list = (): Promise<void> => page.getByRole('link', { name: 'bench-19', exact: true }).first().waitFor();
  const form = await timed(
    () => page.goto(origin),
    () => page.getByLabel('Secret key').waitFor(),
  );
  const first = await timed(() => signIn(page, true), list);
  const again = await timed(() => page.reload({ waitUntil: 'commit' }), list);
  return { form, list: first, again };
}

/**
 * Measures the time from an input to the frame that shows its effect, as the browser reports it, in steps of 8 ms; and the processor time
 * of the page's thread, for an input and for the longest task, during which it cannot respond. The latter depends less on the load of the
 * machine.
 */
async function inFolder(context: BrowserContext, origin: string, endpoint: string, keys: number): Promise<void> {
  const page = await context.newPage();
  await page.goto(origin);
  await signIn(page, false);
  await page.getByRole('heading', { name: 'Buckets', level: 1 }).waitFor();
  const { bucket } = await inventedFolder(page, { origin, service: { url: endpoint } }, keys);
  await page.evaluate(`history.pushState(null, '', '/b/${bucket}/'); dispatchEvent(new PopStateEvent('popstate'))`);
  await page.getByRole('button', { name: 'Size' }).click();
  await page.getByText(`${keys.toLocaleString('en')} items`, { exact: true }).waitFor({ timeout: 300_000 });
  // Events that took less than 16 ms are not reported at all.
  await page.evaluate(`
    globalThis.seen = [];
    new PerformanceObserver((entries) => seen.push(...entries.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'event', durationThreshold: 16 });
  `);
  const measured = async (what: string, count: number, act: (index: number) => Promise<unknown>): Promise<void> => {
    await page.evaluate('seen.length = 0');
    const tasks = await tasksDuring(context.browser()!, async () => {
      for (let index = 0; index < count; index++) await act(index);
      await page.waitForTimeout(500);
    });
    const each = tasks.reduce((sum, task) => sum + task, 0) / count;
    const longest = Math.max(...tasks);
    const processor = `, ${Math.round(each)} ms of the thread each, the longest task ${Math.round(longest)} ms`;
    report(`${what}, ${keys.toLocaleString('en')} keys`, await page.evaluate<number[]>('seen'), processor);
  };
  await page.getByRole('grid').focus();
  const letters = [...'key-00500'];
  await measured('arrows', 40, () => page.keyboard.press('ArrowDown'));
  await measured('typing a name', letters.length, (at) => page.keyboard.type(letters[at]!, { delay: 30 }));
  await measured('select with Shift and End', 3, () => page.keyboard.press('Shift+End'));
  await measured('select all', 3, () => page.keyboard.press('Control+a'));
  const rows = page.locator('.item');
  await measured('clicks', 20, (at) => rows.nth((at % 10) + 2).click());
  const filter = page.getByLabel('Filter by prefix');
  await measured('typing a filter', 5, (at) => filter.pressSequentially('key-0'.charAt(at)));
  const frames = await page.evaluate<number[]>(`(async () => {
    const list = document.querySelector('.virtual');
    const gaps = [];
    let last = performance.now();
    for (let step = 0; step < 120; step++) {
      list.scrollTop += step % 10 === 9 ? 20000 : 400;
      const now = await new Promise(requestAnimationFrame);
      gaps.push(now - last);
      last = now;
    }
    return gaps;
  })()`);
  report(`frames while scrolling, ${keys.toLocaleString('en')} keys`, frames);
}

interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** The processor time, in microseconds. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** Returns the processor times of the tasks of pages' threads while something is done, in milliseconds. */
async function tasksDuring(browser: Browser, act: () => Promise<void>): Promise<number[]> {
  const debug = await browser.newBrowserCDPSession();
  const events: TraceEvent[] = [];
  debug.on('Tracing.dataCollected', ({ value }) => void events.push(...(value as unknown as TraceEvent[])));
  const complete = new Promise<void>((resolve) => debug.once('Tracing.tracingComplete', () => resolve()));
  await debug.send('Tracing.start', { traceConfig: { includedCategories: ['toplevel'] } });
  await act();
  await debug.send('Tracing.end');
  await complete;
  await debug.detach();
  const nameOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
  const threads = events
    .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
    .map(nameOf);
  const tasks = events.filter(
    (event) => event.name === 'ThreadControllerImpl::RunTask' && threads.includes(nameOf(event)),
  );
  return tasks.map(({ tdur = 0 }) => tdur / 1_000);
}

function report(name: string, milliseconds: readonly number[], more = ''): void {
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const at = (share: number): string =>
    `${Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)}`.padStart(5);
  const text = sorted.length === 0 ? 'all below 16 ms' : `median ${at(0.5)} ms, 95 % ${at(0.95)} ms, most ${at(1)} ms`;
  console.log(`${name.padEnd(48)} ${text}${more}`);
}
