import { describe, expect, it } from 'vitest';
import { flatnessOf, measures, type Measure, type Sample } from './verdict.ts';

const MiB = 1024 * 1024;

/** Samples of a run in which nothing but one measure changes. */
function run(length: number, measure: Measure, valueAt: (at: number) => number | undefined): Sample[] {
  const others = Object.fromEntries(Object.keys(measures).map((name) => [name, 100])) as Record<Measure, number>;
  return Array.from({ length }, (_, at) => ({ ...others, [measure]: valueAt(at) }));
}

function isFlat(samples: readonly Sample[], measure: Measure): boolean {
  const found = flatnessOf(samples);
  expect(found.filter((one) => one.measure !== measure).every((one) => one.isFlat)).toBe(true);
  return found.find((one) => one.measure === measure)!.isFlat;
}

describe('the verdict on a soak', () => {
  it('is that what stays is flat, whatever happened while it warmed up', () => {
    const warmed = run(90, 'primaryMemory', (at) => (at < 30 ? at * MiB : 100 * MiB + (at % 7) * MiB));
    expect(isFlat(warmed, 'primaryMemory')).toBe(true);
  });

  it.each([
    ['primaryMemory', (at: number) => (60 + at) * MiB],
    ['oldestWorkerMemory', (at: number) => (60 + at) * MiB],
    ['primaryHandles', (at: number) => 40 + at / 2],
    ['tableSize', (at: number) => (8 + at / 8) * MiB],
    ['diskUsed', (at: number) => (50 + 2 * at) * MiB],
    ['latencyMedian', (at: number) => 5 + 2 * at],
  ] as const)('is that %s which grows all the time is not flat', (measure, valueAt) => {
    expect(isFlat(run(90, measure, valueAt), measure)).toBe(false);
  });

  it('disregards single peaks, and samples that could not be taken', () => {
    const spiked = run(90, 'latencyP99', (at) => (at % 10 === 9 ? 5000 : at % 4 === 1 ? undefined : 20));
    expect(isFlat(spiked, 'latencyP99')).toBe(true);
  });

  it('is refused from too few samples', () => {
    expect(() => flatnessOf(run(8, 'diskUsed', () => 1))).toThrow(RangeError);
    expect(() => flatnessOf(run(90, 'diskUsed', (at) => (at < 80 ? 1 : undefined)))).not.toThrow();
    expect(() => flatnessOf(run(90, 'diskUsed', (at) => (at < 60 ? 1 : undefined)))).toThrow(RangeError);
  });
});
