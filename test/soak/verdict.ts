/** The sampled values. Undefined: the sample could not be taken. */
export type Sample = Readonly<Record<Measure, number | undefined>>;

/** How far the last third of a run may be above the second, to count as flat. */
interface Tolerance {
  readonly unit: 'bytes' | 'number' | 'milliseconds';
  /** A share of the median of the second third. */
  readonly share: number;
  /** An additional allowance in the unit, since a share of a small value is meaningless. */
  readonly slack: number;
}

const MiB = 1024 * 1024;

/** The measures that must be flat. The first third of a run is for warming up. */
export const measures = {
  /** Memory of the process that commits, without mapped files. */
  primaryMemory: { unit: 'bytes', share: 0.1, slack: 8 * MiB },
  /** Memory of the worker that is never killed, without mapped files. */
  oldestWorkerMemory: { unit: 'bytes', share: 0.1, slack: 8 * MiB },
  primaryHandles: { unit: 'number', share: 0.1, slack: 8 },
  oldestWorkerHandles: { unit: 'number', share: 0.1, slack: 8 },
  tableSize: { unit: 'bytes', share: 0.05, slack: 2 * MiB },
  /** The files of the data directory together. */
  diskUsed: { unit: 'bytes', share: 0.15, slack: 16 * MiB },
  latencyMedian: { unit: 'milliseconds', share: 0.5, slack: 5 },
  latencyP99: { unit: 'milliseconds', share: 1, slack: 50 },
} as const satisfies Readonly<Record<string, Tolerance>>;

export type Measure = keyof typeof measures;

/** Whether something stayed as it was. */
export interface Flatness {
  readonly measure: Measure;
  readonly unit: Tolerance['unit'];
  /** The medians of the second and the last third of the samples. */
  readonly before: number;
  readonly after: number;
  /** The greatest median of the last third that counts as flat. */
  readonly bound: number;
  readonly isFlat: boolean;
}

/** The minimum number of samples of a third for a meaningful median. */
const leastOfThird = 3;

/** Compares the last third of the samples with the second. @throws RangeError if there are too few */
export function flatnessOf(
  samples: readonly Sample[],
  names: readonly Measure[] = Object.keys(measures) as Measure[],
): readonly Flatness[] {
  const third = Math.floor(samples.length / 3);
  const [second, last] = [samples.slice(-2 * third, -third), samples.slice(-third)];
  return names.map((measure) => {
    const { unit, share, slack } = measures[measure];
    const [before, after] = [second, last].map((some) => median(valuesOf(some, measure))) as [number, number];
    const bound = before * (1 + share) + slack;
    return { measure, unit, before, after, bound, isFlat: after <= bound };
  });
}

function valuesOf(samples: readonly Sample[], measure: Measure): readonly number[] {
  const values = samples.map((sample) => sample[measure]).filter((value) => value !== undefined);
  if (values.length >= leastOfThird) return values;
  throw new RangeError(`${values.length} samples of ${measure} in a third of the run are too few: let it run longer`);
}

/** Returns the value below which a share of the values is. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}
