/** True for the short form of long searches: bin/tests.mjs, which CI runs, and `npm run check` set it. */
export const isShort = (process.env['TEST_SHORT'] ?? '') !== '';

/** Returns how many cases a property is tried with: a fifth in the short form, 20 times as many if TEST_LONG is set. */
export function runs(usual: number): number {
  if ((process.env['TEST_LONG'] ?? '') !== '') return usual * 20;
  return isShort ? Math.ceil(usual / 5) : usual;
}
