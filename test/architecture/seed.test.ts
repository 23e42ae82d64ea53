import fc from 'fast-check';
import { expect, inject, it } from 'vitest';

it('property tests try the same values each time, from the seed of the run', () => {
  const tried = (): string[] => {
    const values: string[] = [];
    fc.assert(fc.property(fc.string(), (value) => void values.push(value)));
    return values;
  };
  expect(fc.readConfigureGlobal().seed).toBe(inject('propertySeed'));
  expect(tried()).toEqual(tried());
});
