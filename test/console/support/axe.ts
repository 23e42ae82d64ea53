import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

/** A finding of axe: the rule, and the elements that break it. */
export interface Finding {
  readonly rule: string;
  readonly elements: readonly string[];
}

const require = createRequire(import.meta.url);
const source = readFile(require.resolve('axe-core/axe.min.js'), 'utf8');

const run = `axe.run(document, {
  iframes: false,
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
}).then(({ violations }) => violations.map(({ id, nodes }) => ({ rule: id, elements: nodes.map(({ html, failureSummary }) => html.slice(0, 300) + ' ' + failureSummary) })))`;

/** Returns the accessibility findings of axe. It runs through the debugger, since the page's policy blocks foreign scripts. */
export async function axeFindings(page: Page): Promise<readonly Finding[]> {
  const debug = await page.context().newCDPSession(page);
  try {
    await debug.send('Runtime.evaluate', { expression: await source });
    const { result, exceptionDetails } = await debug.send('Runtime.evaluate', {
      expression: run,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? 'axe failed');
    return result.value as readonly Finding[];
  } finally {
    await debug.detach();
  }
}
