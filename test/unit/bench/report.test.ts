import { describe, expect, it } from 'vitest';
import { comparisonOf, isAbove } from '../../bench/compare.ts';
import { cases, fairnessCases, caseNamed } from '../../bench/requests/cases.ts';
import type { Measurement } from '../../bench/requests/generator-messages.ts';
import { resultOf } from '../../bench/requests/measure-cases.ts';
import { anonymousMemory, processorTime } from '../../bench/requests/process-usage.ts';
import { remarks, shownRatio, shownResult } from '../../bench/requests/report.ts';

const measurement: Measurement = {
  requests: 1000,
  errors: 0,
  seconds: 0.5,
  p50: 0.5,
  p99: 12.34,
  longest: 20,
  processor: 100,
  memory: 2 ** 27,
  generatorShare: 0.25,
};
const small = { name: 'GET 4 KiB c1' };
const large = { name: 'GET 64 MiB c1', bytes: 64 * 2 ** 20 };

describe('the results of a benchmark', () => {
  it('are the medians of their rounds', () => {
    const rounds = [0.5, 0.25, 1].map((seconds) => ({ ...measurement, seconds }));
    const result = resultOf(small, 'Stillage', rounds, null);
    expect(result).toMatchObject({ requests: 3000, perSecond: 2000, bytesPerSecond: null, processorMicroseconds: 100 });
    expect(shownResult(result)).toBe('2,000 /s, 0.5 / 12.3 ms, 100 µs');
  });

  it('show megabytes where bytes count, and only what is known', () => {
    const { p50: _p50, p99: _p99, processor: _processor, ...rest } = { ...measurement, requests: 1, seconds: 1 };
    const result = resultOf(large, 'Stillage', [rest], null);
    expect(result).toMatchObject({ p50: null, p99: null, processorMicroseconds: null });
    expect(shownResult(result)).toBe('67 MB/s');
    expect(shownResult(undefined)).toBe('');
  });

  it('tell of errors, of the generator and of memory', () => {
    const failed = resultOf(small, 'Stillage', [{ ...measurement, errors: 2, firstError: 'Error: 503' }], null);
    expect(shownResult(failed)).toContain('2 ERRORS');
    expect(remarks([failed])).toEqual([
      'The load generator used at most 25 % of a processor (GET 4 KiB c1, Stillage).',
      'Memory at the end, without mapped files: Stillage 128 MiB.',
      'GET 4 KiB c1, Stillage: 2 errors; the first: Error: 503',
    ]);
  });

  it('are compared by ratios', () => {
    const base = resultOf(small, 'base', [measurement], null);
    const here = resultOf(small, 'here', [{ ...measurement, seconds: 0.25, processor: 80 }], null);
    const again = resultOf(small, 'base, again', [{ ...measurement, processor: 300 }], null);
    expect(comparisonOf([base, base], here).ratios).toEqual({ perSecond: 2, p99: 1, processor: 0.8 });
    expect(comparisonOf([base, again], here)).toMatchObject({
      ratios: { perSecond: 2, p99: 1, processor: 0.4 },
      noise: { perSecond: 1, p99: 1, processor: 3 },
    });
    expect(shownRatio(here, base)).toBe('2.00');
    expect(shownRatio(here, undefined)).toBe('');
  });
});

describe('a limit on processor time', () => {
  const ratiosOf = (processor: number | null) => ({ perSecond: 1, p99: 1, processor });

  it('is exceeded by what the base does not differ from itself by, whichever of its runs was slower', () => {
    for (const noise of [1.1, 1 / 1.1]) {
      const isAboveBy = (processor: number): boolean =>
        isAbove({ ratios: ratiosOf(processor), noise: ratiosOf(noise) }, 1.05);
      expect([isAboveBy(1.15), isAboveBy(1.16)]).toEqual([false, true]);
    }
  });

  it('counts nothing that is unknown', () => {
    expect(isAbove({ ratios: ratiosOf(1.06), noise: ratiosOf(null) }, 1.05)).toBe(true);
    expect(isAbove({ ratios: ratiosOf(null), noise: ratiosOf(null) }, 1.05)).toBe(false);
  });
});

describe('the cases of a benchmark', () => {
  it('have names of their own', () => {
    const names = cases.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name } of [...cases, ...fairnessCases]) expect(caseNamed(name).name).toBe(name);
  });
});

describe('the usage of a process', () => {
  it('is read from /proc, whatever the program is called', () => {
    const stat =
      '42 (a ) b) S 1 42 42 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 7 0 12345 1000000 500 18446744073709551615';
    expect(processorTime(stat)).toBe(2000);
    expect(anonymousMemory('VmRSS:\t  200 kB\nRssAnon:\t     100 kB\nRssFile:\t 100 kB\n')).toBe(102_400);
    expect(anonymousMemory('')).toBe(0);
  });
});
