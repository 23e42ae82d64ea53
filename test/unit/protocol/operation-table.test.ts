import { describe, expect, it } from 'vitest';
import { operations } from '../../../functions/operations.ts';
import { stubs } from '../../../functions/bucket/stubs.ts';
import { requestClassOf } from '../../../shared/protocol/operation-table.ts';

/** Operations that read, by name or stub, so that a new operation must be given a class explicitly. */
const reading = [
  /^(?:Get|Head)/,
  // Answered without looking at anything.
  ...stubs.map(({ name }) => new RegExp(`^${name}$`)),
];

describe('the class of an operation', () => {
  it.each([...operations.keys()])('%s', (name) => {
    const expected =
      ['GetHealth', 'GetLiveness', 'Iam', 'LookupEvents', 'Preflight', 'Sts'].includes(name) ||
      /^(?:Delete|Abort)/.test(name)
        ? 'free'
        : reading.some((pattern) => pattern.test(name))
          ? 'b'
          : 'a';
    expect(requestClassOf(name)).toBe(expected);
  });

  it('of what is no operation is free', () => {
    expect(requestClassOf('Unknown')).toBe('free');
  });
});
