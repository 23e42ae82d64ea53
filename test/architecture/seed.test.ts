import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import type { TestProject } from 'vitest/node';
import chooseSeed from '../support/runs/choose-seed.ts';

it('property tests try the same values each time, from the seed of the run', () => {
  const tried = (): string[] => {
    const values: string[] = [];
    fc.assert(fc.property(fc.string(), (value) => void values.push(value)));
    return values;
  };
  expect(fc.readConfigureGlobal().seed).toBe(inject('propertySeed'));
  expect(tried()).toEqual(tried());
});

describe('the seed of a run', () => {
  /** The seed that a run with these variables has. */
  function seedWith(variables: Readonly<Record<string, string | undefined>>): number {
    for (const name of ['TEST_LONG', 'TEST_SEED']) vi.stubEnv(name, variables[name]);
    const provide = vi.fn();
    chooseSeed({ provide } as unknown as TestProject);
    return provide.mock.lastCall![1] as number;
  }

  beforeEach(() => void vi.spyOn(console, 'log').mockReturnValue());
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  it('is fixed, but new in the long form, unless it is given', () => {
    expect(seedWith({})).toBe(1);
    expect(seedWith({ TEST_LONG: '1' })).not.toBe(seedWith({ TEST_LONG: '1' }));
    expect(seedWith({ TEST_LONG: '1', TEST_SEED: '7' })).toBe(7);
    expect(seedWith({ TEST_SEED: '7' })).toBe(7);
  });
});
