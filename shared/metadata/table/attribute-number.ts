/** Returns the value of a number attribute, 0 if it is absent. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
