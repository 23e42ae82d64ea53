import { describe, expect, it } from 'vitest';
import { differences, faultsOf, judge, type Failure } from '../../../bin/verdict.mjs';

const strict = ['test/durability/'];
const excuse = { test: 'test/api/a.test.ts > a', cause: 'a race in the test', owner: 'ci', until: '2026-03-10' };
const wrong = (test: string): Failure => ({ test, message: 'AssertionError: expected 1 to be 2' });
const slow = (test: string): Failure => ({ test, message: 'Error: Test timed out in 300000ms.\n  at …' });

describe('a test that failed', () => {
  const rules = { strict, flaky: [excuse] };

  it('has failed if it fails again, whatever the reason', () => {
    const failures = [wrong('test/api/a.test.ts > a'), slow('test/api/b.test.ts > b')];
    expect(judge(failures, failures, rules)).toEqual({ failed: failures, flaky: [] });
  });

  it('is flaky if it timed out and passes when it is repeated', () => {
    const failures = [slow('test/durability/a.test.ts > a'), slow('test/api/b.test.ts > b')];
    expect(judge(failures, [], rules)).toEqual({ failed: [], flaky: failures });
  });

  it('has failed if an assertion did, even if that holds when it is repeated, unless the test is listed', () => {
    const listed = wrong('test/api/a.test.ts > a');
    const other = wrong('test/api/a.test.ts > another');
    expect(judge([listed, other], [], rules)).toEqual({ failed: [other], flaky: [listed] });
  });

  it('has failed where data is at stake, even if it is listed', () => {
    const lost = wrong('test/durability/a.test.ts > a');
    const flaky = [{ ...excuse, test: lost.test }];
    expect(judge([lost], [], { strict, flaky })).toEqual({ failed: [lost], flaky: [] });
  });

  it('counts if it fails only when the file is repeated', () => {
    const second = wrong('test/api/a.test.ts > second');
    expect(judge([slow('test/api/a.test.ts > a')], [second], rules).failed).toEqual([second]);
  });
});

describe('the list of tests that may fail once', () => {
  const on = (day: string): number => Date.parse(`${day}T12:00:00Z`);

  it('is short, of the next 14 days, and without promises about data', () => {
    expect(faultsOf([excuse], strict, on('2026-03-10'))).toEqual([]);
    expect(faultsOf([excuse], strict, on('2026-02-24'))).toEqual([]);
    expect(faultsOf([excuse], strict, on('2026-03-11'))).toEqual([expect.stringContaining('has expired')]);
    expect(faultsOf([excuse], strict, on('2026-02-23'))).toEqual([expect.stringContaining('14 days')]);
    expect(faultsOf([{ ...excuse, until: 'soon' }], strict, on('2026-03-01'))).toHaveLength(1);
    expect(faultsOf([excuse, excuse, excuse, excuse], strict, on('2026-03-01'))).toHaveLength(1);
    const lost = { ...excuse, test: 'test/durability/a.test.ts > a' };
    expect(faultsOf([lost], strict, on('2026-03-01'))).toEqual([expect.stringContaining('about data')]);
  });
});

describe('a whole gate', () => {
  const expected = { passed: 10, skipped: { 'test/contract/a.test.ts': 2 } };

  it('may have more tests, and skips exactly those that it should', () => {
    expect(differences({ passed: 11, skipped: { 'test/contract/a.test.ts': 2 } }, expected)).toEqual([]);
    expect(differences({ passed: 9, skipped: {} }, expected)).toEqual([
      '9 tests passed, and 10 should',
      '0 tests of test/contract/a.test.ts were skipped, and 2 should be',
    ]);
    const more = { 'test/contract/a.test.ts': 2, 'test/api/b.test.ts': 1 };
    expect(differences({ passed: 10, skipped: more }, expected)).toEqual([
      '1 tests of test/api/b.test.ts were skipped, and 0 should be',
    ]);
  });
});
