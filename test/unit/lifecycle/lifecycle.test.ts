import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  abortRule,
  expiredMarkerRule,
  expiryOf,
  expiryRule,
  noncurrentRule,
  realDays,
  shortDays,
  type AgingVersion,
} from '../../../shared/lifecycle/lifecycle.ts';
import {
  applies,
  coveredPrefixes,
  enabledRules,
  mayMatchBetween,
  type EnabledRule,
} from '../../../shared/lifecycle/lifecycle-rules.ts';
import { compareUtf8 } from '../../../shared/ports/utf8-order.ts';
import type { Attributes } from '../../../shared/ports/key-value-table.ts';
import { runs } from '../../support/runs/runs.ts';

const at = (text: string): number => Date.parse(text);
const on = (date: string): number => Date.parse(`${date}T00:00:00Z`);

type Rule = Partial<Omit<EnabledRule, 'filter'>> & { readonly filter?: Partial<EnabledRule['filter']> };

function rule({ filter, ...more }: Rule): EnabledRule {
  return {
    id: 'rule',
    filter: { prefix: '', tags: [], greaterThan: undefined, lessThan: undefined, ...filter },
    days: undefined,
    date: undefined,
    expiredMarkers: false,
    noncurrent: undefined,
    abortDays: undefined,
    ...more,
  };
}

function version(lastModified: number, more: Partial<AgingVersion> = {}): AgingVersion {
  return { marker: false, size: 1000, tags: [], lastModified, replacedAt: undefined, ...more };
}

const time = (now: number) => ({ now, calendar: realDays });

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-rules.html#intro-lifecycle-rules-number-of-days */
describe('days', () => {
  it.each([
    ['2014-01-15T10:30:00Z', 3, '2014-01-19'],
    ['2014-01-01T10:30:00Z', 5, '2014-01-07'],
    ['2014-01-15T23:59:59.999Z', 1, '2014-01-17'],
    ['2014-01-15T00:00:00.001Z', 1, '2014-01-17'],
    ['2014-01-15T00:00:00Z', 1, '2014-01-16'],
    ['2016-02-28T12:00:00Z', 1, '2016-03-01'],
    ['2014-12-31T12:00:00Z', 1, '2015-01-02'],
  ])('from %s on, %i of them: due on %s', (from, days, due) => {
    expect(realDays.after(at(from), days)).toBe(on(due));
  });

  it('may be short, and end at any time then', () => {
    expect(shortDays(2).after(1234, 3)).toBe(7234);
    expect(shortDays(0.5).after(0, 1)).toBe(500);
  });

  it('are never due before they are over, and never more than a day later, at midnight', () => {
    const day = 86_400_000;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: 1, max: 10_000 }), (from, days) => {
        const due = realDays.after(from, days);
        expect(due).toBeGreaterThanOrEqual(from + days * day);
        expect(due).toBeLessThan(from + (days + 1) * day);
        expect(due % day).toBe(0);
      }),
      { numRuns: runs(200) },
    );
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-filters.html */
describe('a filter', () => {
  const key = (name: string, more = {}) => ({ key: name, marker: false, size: 1000, tags: [] as const, ...more });
  const tags = (...pairs: (readonly [string, string])[]) => ({ tags: pairs });

  it.each([
    ['nothing', {}, key('any'), true],
    ['a prefix', { prefix: 'logs/' }, key('logs/day1'), true],
    ['a prefix', { prefix: 'logs/' }, key('logs/'), true],
    ['a prefix', { prefix: 'logs/' }, key('log'), false],
    ['a prefix', { prefix: 'logs/' }, key('my/logs/1'), false],
    ['a tag', tags(['k', 'v']), key('a', tags(['k', 'v'], ['l', 'w'])), true],
    ['a tag', tags(['k', 'v']), key('a', tags(['k', 'w'])), false],
    ['a tag', tags(['k', 'v']), key('a', tags(['v', 'k'])), false],
    ['a tag', tags(['k', 'v']), key('a'), false],
    ['two tags', tags(['k', 'v'], ['l', '']), key('a', tags(['l', ''], ['k', 'v'])), true],
    ['two tags', tags(['k', 'v'], ['l', '']), key('a', tags(['k', 'v'])), false],
    ['a tag that is not read yet', tags(['k', 'v']), key('a', { tags: undefined }), true],
    ['a size greater than', { greaterThan: 1000 }, key('a'), false],
    ['a size greater than', { greaterThan: 999 }, key('a'), true],
    ['a size greater than 0', { greaterThan: 0 }, key('a', { size: 0 }), false],
    ['a size less than', { lessThan: 1000 }, key('a'), false],
    ['a size less than', { lessThan: 1001 }, key('a'), true],
    ['sizes between', { greaterThan: 500, lessThan: 64_000 }, key('a'), true],
    ['sizes between', { greaterThan: 500, lessThan: 64_000 }, key('a', { size: 64_000 }), false],
    ['all of it', { prefix: 'a', greaterThan: 1, ...tags(['k', 'v']) }, key('ab', tags(['k', 'v'])), true],
    [
      'all of it',
      { prefix: 'a', greaterThan: 1, ...tags(['k', 'v']) },
      key('ab', { size: 1, ...tags(['k', 'v']) }),
      false,
    ],
    ['a marker by prefix', { prefix: 'a' }, key('ab', { marker: true, size: 0 }), true],
    ['a marker by tag', tags(['k', 'v']), key('ab', { marker: true, size: 0 }), false],
    ['a marker by size', { lessThan: 1 }, key('ab', { marker: true, size: 0 }), false],
  ])('of %s: %j finds %j: %s', (_, filter, object, found) => {
    expect(applies(rule({ filter }), object)).toBe(found);
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-conflicts.html */
describe('the current version', () => {
  const created = at('2014-01-15T10:30:00Z');
  const ends = (rules: readonly EnabledRule[], key = 'logs/1', more: Partial<AgingVersion> = {}) => {
    const expiry = expiryOf(rules, key, version(created, more), realDays);
    return expiry && [new Date(expiry.at).toISOString().slice(0, 10), expiry.rule.id];
  };

  it('expires so many days after it was made', () => {
    expect(ends([rule({ days: 3 })])).toEqual(['2014-01-19', 'rule']);
  });

  it('expires on a date, however old it is', () => {
    expect(ends([rule({ date: on('2014-01-01') })])).toEqual(['2014-01-01', 'rule']);
    expect(ends([rule({ date: on('2030-01-01') })])).toEqual(['2030-01-01', 'rule']);
  });

  it('expires by the earliest of the rules that apply', () => {
    const rules = [
      rule({ id: 'whole bucket', days: 365 }),
      rule({ id: 'logs', filter: { prefix: 'logs/' }, days: 30 }),
      rule({ id: 'tagged', filter: { tags: [['k', 'v']] }, days: 1 }),
      rule({ id: 'date', filter: { prefix: 'dated/' }, date: on('2014-01-16') }),
    ];
    expect(ends(rules)).toEqual(['2014-02-15', 'logs']);
    expect(ends(rules, 'other')).toEqual(['2015-01-16', 'whole bucket']);
    expect(ends(rules, 'logs/1', { tags: [['k', 'v']] })).toEqual(['2014-01-17', 'tagged']);
    expect(ends(rules, 'dated/1', { tags: [['k', 'v']] })).toEqual(['2014-01-16', 'date']);
  });

  it('expires by the first of two rules of one day', () => {
    expect(ends([rule({ id: 'a', days: 1 }), rule({ id: 'b', days: 1 })])).toEqual(['2014-01-17', 'a']);
  });

  it('does not expire by rules for others', () => {
    const noncurrent = { days: 1, keep: 0 };
    expect(ends([])).toBeUndefined();
    expect(ends([rule({ noncurrent, expiredMarkers: true, abortDays: 1 })])).toBeUndefined();
    expect(ends([rule({ days: 1, filter: { prefix: 'other/' } })])).toBeUndefined();
  });

  it('is due at that very moment, and not before', () => {
    const rules = [rule({ days: 3 })];
    const due = on('2014-01-19');
    expect(expiryRule(rules, 'k', version(created), time(due - 1))).toBeUndefined();
    expect(expiryRule(rules, 'k', version(created), time(due))?.id).toBe('rule');
    expect(expiryRule(rules, 'k', version(created), time(on('2034-01-01')))?.id).toBe('rule');
  });

  it('does not expire if it is a delete marker', () => {
    expect(expiryRule([rule({ days: 1 })], 'k', version(created, { marker: true }), time(on('2034-01-01')))).toBe(
      undefined,
    );
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-configuration-examples.html#lifecycle-config-conceptual-ex7 */
describe('a delete marker that is all there is', () => {
  const created = at('2014-01-15T10:30:00Z');
  const marker = version(created, { marker: true, size: 0 });

  it('goes at once by a rule for such markers', () => {
    expect(expiredMarkerRule([rule({ expiredMarkers: true })], 'k', marker, time(created))?.id).toBe('rule');
    const elsewhere = rule({ expiredMarkers: true, filter: { prefix: 'l' } });
    expect(expiredMarkerRule([elsewhere], 'k', marker, time(created))).toBeUndefined();
  });

  it('goes when it is as old as objects may get', () => {
    const rules = [rule({ days: 3 })];
    expect(expiredMarkerRule(rules, 'k', marker, time(on('2014-01-19') - 1))).toBeUndefined();
    expect(expiredMarkerRule(rules, 'k', marker, time(on('2014-01-19')))?.id).toBe('rule');
  });

  it('stays where rules are about other things', () => {
    const rules = [rule({ noncurrent: { days: 1, keep: 0 } }), rule({ days: 1, filter: { lessThan: 5 } })];
    expect(expiredMarkerRule(rules, 'k', marker, time(on('2034-01-01')))).toBeUndefined();
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-rules.html#non-current-days-calculations */
describe('a non-current version', () => {
  // The example of the page: photo.gif is made, written over ten days later, and the previous version expires five days after that.
  const first = version(at('2014-01-01T10:30:00Z'), { replacedAt: at('2014-01-15T10:30:00Z') });
  const second = version(at('2014-01-15T10:30:00Z'));
  const place = (newer: number) => ({ newer, successor: second });
  const due = (some: EnabledRule, now: number, newer = 0, one = first): boolean =>
    noncurrentRule([some], 'photo.gif', one, place(newer), time(now)) !== undefined;

  it('goes so many days after it was replaced, not after it was made', () => {
    const some = rule({ noncurrent: { days: 5, keep: 0 } });
    expect(due(some, on('2014-01-21') - 1)).toBe(false);
    expect(due(some, on('2014-01-21'))).toBe(true);
  });

  it('is as old as its successor where nothing else is known', () => {
    const some = rule({ noncurrent: { days: 5, keep: 0 } });
    const unknown = { ...first, replacedAt: undefined };
    expect(due(some, on('2014-01-21') - 1, 0, unknown)).toBe(false);
    expect(due(some, on('2014-01-21'), 0, unknown)).toBe(true);
  });

  it('stays while it is among the newest', () => {
    const some = rule({ noncurrent: { days: 5, keep: 2 } });
    expect([0, 1, 2, 3].map((newer) => due(some, on('2030-01-01'), newer))).toEqual([false, false, true, true]);
    expect(due(some, on('2014-01-20'), 3)).toBe(false);
  });

  it('goes by its own tags and size, and as a marker by its prefix', () => {
    const large = rule({ noncurrent: { days: 1, keep: 0 }, filter: { greaterThan: 5000 } });
    expect(due(large, on('2030-01-01'))).toBe(false);
    expect(due(large, on('2030-01-01'), 0, { ...first, size: 5001 })).toBe(true);
    const marker = { ...first, marker: true, size: 0 };
    expect(due(rule({ noncurrent: { days: 1, keep: 0 } }), on('2030-01-01'), 0, marker)).toBe(true);
    expect(due(large, on('2030-01-01'), 0, marker)).toBe(false);
  });

  it('has nothing to do with the expiration of current ones', () => {
    expect(due(rule({ days: 1, expiredMarkers: true }), on('2030-01-01'))).toBe(false);
  });
});

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpu-abort-incomplete-mpu-lifecycle-config.html */
describe('an open upload', () => {
  const upload = { key: 'logs/big', initiated: at('2014-01-15T10:30:00Z') };

  it('is aborted so many days after it began', () => {
    const rules = [rule({ abortDays: 7, filter: { prefix: 'logs/' } })];
    expect(abortRule(rules, upload, time(on('2014-01-23') - 1))).toBeUndefined();
    expect(abortRule(rules, upload, time(on('2014-01-23')))?.id).toBe('rule');
    expect(abortRule(rules, { ...upload, key: 'big' }, time(on('2030-01-01')))).toBeUndefined();
    expect(abortRule([rule({ days: 1 })], upload, time(on('2030-01-01')))).toBeUndefined();
  });
});

describe('a document', () => {
  const stored = (...rules: object[]) => ({ rules }) as unknown as Attributes;

  it('becomes the rules that are enabled', () => {
    const rules = enabledRules(
      stored(
        { id: 'off', status: 'Disabled', scope: { form: 'filter' }, expiration: { days: 1 } },
        {
          id: 'on',
          status: 'Enabled',
          scope: { form: 'and', prefix: 'p', tags: [{ key: 'k', value: 'v' }], greaterThan: 1, lessThan: 9 },
          expiration: { days: 3 },
          noncurrent: { days: 4, newerVersions: 2 },
        },
        { id: 'date', status: 'Enabled', scope: { form: 'prefix', prefix: '' }, expiration: { date: 86_400_000 } },
        {
          id: 'markers',
          status: 'Enabled',
          scope: { form: 'filter' },
          expiration: { expiredObjectDeleteMarker: true },
          noncurrent: { days: 1 },
          abortDays: 7,
        },
        {
          id: 'no markers',
          status: 'Enabled',
          scope: { form: 'filter' },
          expiration: { expiredObjectDeleteMarker: false },
        },
      ),
    );
    expect(rules).toEqual([
      rule({
        id: 'on',
        filter: { prefix: 'p', tags: [['k', 'v']], greaterThan: 1, lessThan: 9 },
        days: 3,
        noncurrent: { days: 4, keep: 2 },
      }),
      rule({ id: 'date', date: 86_400_000 }),
      rule({ id: 'markers', expiredMarkers: true, noncurrent: { days: 1, keep: 0 }, abortDays: 7 }),
      rule({ id: 'no markers' }),
    ]);
  });

  it('is decoded once', () => {
    const document = stored({ id: 'on', status: 'Enabled', scope: { form: 'filter' }, expiration: { days: 3 } });
    expect(enabledRules(document)).toBe(enabledRules(document));
  });
});

describe('prefixes', () => {
  const prefix = fc.string({ unit: fc.constantFrom('a', 'b', '/', '😀', '\uff01'), maxLength: 4 });

  it('are covered by as few as there can be', () => {
    const covered = (...prefixes: string[]) =>
      coveredPrefixes(prefixes.map((one) => rule({ filter: { prefix: one } })));
    expect(covered('logs/', 'a', 'logs/2020/', 'ab', 'logs/')).toEqual(['a', 'logs/']);
    expect(covered('a', '', 'b')).toEqual(['']);
    expect(covered()).toEqual([]);
  });

  it('cover every key that a rule applies to, once', () => {
    fc.assert(
      fc.property(fc.array(prefix, { maxLength: 6 }), prefix, (prefixes, key) => {
        const rules = prefixes.map((one) => rule({ filter: { prefix: one } }));
        const covering = coveredPrefixes(rules).filter((one) => key.startsWith(one));
        expect(covering).toHaveLength(prefixes.some((one) => key.startsWith(one)) ? 1 : 0);
      }),
      { numRuns: runs(300) },
    );
  });

  it('of a stretch of keys miss none that is in it', () => {
    fc.assert(
      fc.property(prefix, fc.array(prefix, { minLength: 1, maxLength: 4 }), (one, some) => {
        const keys = [...some].sort(compareUtf8);
        const may = mayMatchBetween(rule({ filter: { prefix: one } }), keys[0]!, keys.at(-1)!);
        if (keys.some((key) => key.startsWith(one))) expect(may).toBe(true);
      }),
      { numRuns: runs(500) },
    );
    expect(mayMatchBetween(rule({ filter: { prefix: 'b' } }), 'c', 'd')).toBe(false);
    expect(mayMatchBetween(rule({ filter: { prefix: 'e' } }), 'c', 'd')).toBe(false);
    expect(mayMatchBetween(rule({ filter: { prefix: 'c' } }), 'ca', 'cb')).toBe(true);
  });
});
