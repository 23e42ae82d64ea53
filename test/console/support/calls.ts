import type { Page } from 'playwright-core';

/**
 * Counts the calls of functions of the console while something is done with a page, as V8 counts them for coverage: the same work has the
 * same count on every machine.
 */
export async function callsDuring(page: Page, act: () => Promise<unknown>): Promise<number> {
  const debug = await page.context().newCDPSession(page);
  const take = async (): Promise<number> => {
    const { result } = await debug.send('Profiler.takePreciseCoverage');
    const functions = result.filter(({ url }) => url.includes('/assets/')).flatMap((script) => script.functions);
    return functions.reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
  };
  try {
    await debug.send('Profiler.enable');
    await debug.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await take();
    await act();
    // The effects of the input end with the frame after the next.
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))),
    );
    return await take();
  } finally {
    await debug.send('Profiler.stopPreciseCoverage');
    await debug.detach();
  }
}
