/** A number at a time, in milliseconds since the epoch. */
export interface Point {
  readonly at: number;
  readonly value: number;
}

/** Returns up to five round numbers from 0 to at least `most`: multiples of 1, 2, 2.5 or 5 times a power of ten, and of the base. */
export function ticksOf(most: number, base: 1000 | 1024): readonly number[] {
  const power = base ** Math.max(0, Math.floor(Math.log(most) / Math.log(base)));
  const rough = most / power / 4;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const steps = [1, 2, 2.5, 5, 10].map((step) => step * ten * power);
  const fitting = steps.find((step) => step * 4 >= most * (1 - 1e-9)) ?? steps[steps.length - 1]!;
  // A count has no fractions.
  const step = power === 1 ? Math.max(1, Math.ceil(fitting)) : fitting;
  return Array.from({ length: Math.ceil((most / step) * (1 - 1e-9)) + 1 }, (_, index) => index * step);
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const timeSteps = [5 * minute, 15 * minute, 30 * minute, hour, 3 * hour, 6 * hour, 12 * hour].concat(
  [1, 2, 7, 14, 30, 90, 180, 365].map((days) => days * day),
);

/** Returns at most `count` times between start and end, on round hours or days of the local clock. */
export function timeTicksOf(start: number, end: number, count: number): readonly number[] {
  const step = timeSteps.find((each) => (end - start) / each <= count) ?? (end - start) / count;
  const offset = new Date(start).getTimezoneOffset() * minute;
  const first = Math.ceil((start - offset) / step) * step + offset;
  const ticks: number[] = [];
  // The text of a tick is wider than nothing: those at the very edge would be cut off.
  const edge = (end - start) * 0.04;
  for (let at = first; at <= end; at += step) if (at - start >= edge / 2 && end - at >= edge) ticks.push(at);
  return ticks;
}

/** Returns an SVG path, and that of the area below it, for each run of points without a gap. */
export function linePaths(
  points: readonly Point[],
  maxGap: number,
  x: (at: number) => number,
  y: (value: number) => number,
): readonly { readonly line: string; readonly area: string }[] {
  const runs: Point[][] = [];
  for (const point of points) {
    const run = runs[runs.length - 1];
    if (run === undefined || point.at - run[run.length - 1]!.at > maxGap) runs.push([point]);
    else run.push(point);
  }
  const round = (value: number): string => value.toFixed(1);
  return runs.map((run) => {
    const line = run
      .map(({ at, value }, index) => `${index === 0 ? 'M' : 'L'}${round(x(at))} ${round(y(value))}`)
      .join('');
    const [first, last] = [run[0]!, run[run.length - 1]!];
    // A single point is drawn as the round cap of a line without a length.
    const shape = run.length === 1 ? `${line}h0.01` : line;
    return { line: shape, area: `${line}L${round(x(last.at))} ${round(y(0))}L${round(x(first.at))} ${round(y(0))}Z` };
  });
}
