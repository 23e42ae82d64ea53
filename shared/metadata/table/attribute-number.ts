/** An attribute that is a number, or absent, which counts as 0. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
