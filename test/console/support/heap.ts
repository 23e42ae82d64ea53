import type { Page } from 'playwright-core';

/** Returns whether a reachable string of the page's heap contains a text, after a forced collection. */
export async function heapContains(page: Page, text: string): Promise<boolean> {
  const debug = await page.context().newCDPSession(page);
  const chunks: string[] = [];
  debug.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk));
  try {
    await debug.send('HeapProfiler.enable');
    for (let round = 0; round < 3; round++) await debug.send('HeapProfiler.collectGarbage');
    await debug.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  } finally {
    await debug.detach();
  }
  const { strings } = JSON.parse(chunks.join('')) as { readonly strings: readonly string[] };
  return strings.some((string) => string.includes(text));
}
