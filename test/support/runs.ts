/** Whether only the short form of long searches is wanted: `npm test` sets it, CI does not. */
export const isShort = (process.env['STILLAGE_SHORT'] ?? '') !== '';

/** How many cases a property is tried with: many more if STILLAGE_LONG is set. */
export function runs(usual: number): number {
  return (process.env['STILLAGE_LONG'] ?? '') === '' ? usual : usual * 20;
}
