/** Returns the middle one of numbers: of an even count, the higher of the two. @throws RangeError if there are none */
export function median(numbers: readonly number[]): number {
  return percentile(numbers, 0.5);
}

/**
 * Returns the number below which a share of the numbers is: `percentile(times, 0.99)` is the time that one in a hundred exceeds or equals.
 * @throws RangeError if there are no numbers
 */
export function percentile(numbers: readonly number[] | Float64Array, share: number): number {
  if (numbers.length === 0) throw new RangeError('there is no percentile of no numbers');
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

/** Returns the median of those numbers that are known; undefined if none is. */
export function medianOfKnown(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((number) => number !== undefined);
  return known.length === 0 ? undefined : median(known);
}

/** Returns one number divided by another; undefined if that is meaningless. */
export function ratio(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined || other === 0 ? undefined : one / other;
}
