import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  comparedHere,
  parsedEtag,
  planKey as planOf,
  type KeyPlan,
} from '../../../../../local/server/moving/key-plan.ts';
import type { SourceVersion } from '../../../../../local/server/moving/source-listing.ts';
import type { Version } from '../../../../../shared/storage/versions/versions.ts';
import { runs } from '../../../../support/runs/runs.ts';

const planKey = (source: readonly SourceVersion[], here: readonly Version[]): KeyPlan<Version> =>
  planOf(source, here, comparedHere);

/** A version, wherever it is. */
interface Shown {
  readonly named: boolean;
  readonly marker: boolean;
  readonly lastModified: number;
  /** Stands for the bytes. */
  readonly content: number;
}

const md5 = (content: number): Buffer => Buffer.alloc(16, content);

const atSource = ({ named, marker, lastModified, content }: Shown, at: number): SourceVersion => ({
  ...{ id: named ? `v${at}` : 'null', marker, lastModified },
  ...(marker ? { size: 0, etag: '' } : { size: content, etag: md5(content).toString('hex') }),
});

const atHere = ({ named, marker, lastModified, content }: Shown): Version =>
  ({
    ...{ named, marker, lastModified, partCount: undefined },
    ...(marker ? { size: 0, md5: undefined } : { size: content, md5: md5(content) }),
  }) as Version;

/** What a store does with a version that is put: a null version replaces the former one. */
const withPut = (here: readonly Version[], { named, ...rest }: Version): readonly Version[] => [
  ...here.filter((one) => named || one.named),
  { ...rest, named },
];

const shownOf = ({ named, marker, lastModified, size, md5: of }: Version): string =>
  JSON.stringify([named, marker, lastModified, size, Buffer.from(of ?? []).toString('hex')]);

const asHere = ({ id, marker, lastModified, size }: SourceVersion): Version =>
  atHere({ named: id !== 'null', marker, lastModified, content: size });

/** Few times and contents, so that versions are often alike. */
const version: fc.Arbitrary<Shown> = fc.record({
  named: fc.boolean(),
  marker: fc.boolean(),
  lastModified: fc.integer({ min: 1, max: 4 }),
  content: fc.integer({ min: 1, max: 2 }),
});

/** Versions of one key, oldest first, one of which at most is the null version. */
const key = fc
  .array(version, { maxLength: 6 })
  .map((all) => all.filter(({ named }, at) => named || all.findIndex((one) => !one.named) === at));

/** A key of the source, and what is here of it, with others among them. */
const both = fc
  .record({ source: key, kept: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), others: key })
  .chain(({ source, kept, others }) => {
    const common = source.filter((_, at) => kept[at]);
    const own = common.some(({ named }) => !named) ? others.filter(({ named }) => named) : others;
    return fc.shuffledSubarray(own).chain((more) =>
      fc.array(fc.nat(common.length), { minLength: more.length, maxLength: more.length }).map((places) => ({
        source: source.toSorted((a, b) => a.lastModified - b.lastModified).map(atSource),
        here: common
          .toSorted((a, b) => a.lastModified - b.lastModified)
          .flatMap((one, at) => [...more.filter((_, n) => places[n] === at), one])
          .concat(more.filter((_, n) => places[n] === common.length))
          .map(atHere),
      })),
    );
  });

const property = (check: (source: readonly SourceVersion[], here: readonly Version[]) => void): void =>
  fc.assert(
    fc.property(both, ({ source, here }) => check(source, here)),
    { numRuns: runs(500) },
  );

/** Carries a plan out, to the last version or only as far as it came. */
function carriedOut(
  source: readonly SourceVersion[],
  here: readonly Version[],
  copies: number = Infinity,
): readonly Version[] {
  const { extra, missing } = planKey(source, here);
  return missing
    .slice(0, copies)
    .map(asHere)
    .reduce(
      withPut,
      here.filter((one) => !extra.includes(one)),
    );
}

describe('the plan of a key', () => {
  it('puts all of a key that is not here, and nothing of one that is', () => {
    property((source) => {
      const whole = source.map(asHere);
      expect(planKey(source, [])).toEqual({
        missing: source,
        passedOver: [],
        extra: [],
        isWrittenThere: false,
        same: 0,
      });
      expect(planKey(source, whole)).toMatchObject({ missing: [], passedOver: [], extra: [], same: source.length });
    });
  });

  it('counts each version of the source once', () => {
    property((source, here) => {
      const { missing, passedOver, same } = planKey(source, here);
      expect(missing.length + passedOver.length + same).toBe(source.length);
    });
  });

  it('makes a key what it is at the source, but for what is passed over', () => {
    property((source, here) => {
      const { passedOver } = planKey(source, here);
      const wanted = source.filter((one) => !passedOver.includes(one)).map(asHere);
      const after = carriedOut(source, here);
      expect(after.map(shownOf)).toEqual(wanted.map(shownOf));
      expect(planKey(source, after)).toMatchObject({ missing: [], extra: [], same: wanted.length });
    });
  });

  it('comes to the same if it was carried out in part', () => {
    fc.assert(
      fc.property(both, fc.nat(6), ({ source, here }, copies) => {
        const half = carriedOut(source, here, copies);
        expect(carriedOut(source, half).map(shownOf)).toEqual(carriedOut(source, here).map(shownOf));
      }),
      { numRuns: runs(500) },
    );
  });

  it('tells of a key whose newest version is only here', () => {
    property((source, here) => {
      const { extra, isWrittenThere } = planKey(source, here);
      expect(isWrittenThere).toBe(extra.length > 0 && extra[0] === here.at(-1));
    });
  });
});

describe('the plan of a key whose versions are told apart by their content alone', () => {
  const comparison = {
    isSame: (one: SourceVersion, other: SourceVersion) => one.etag === other.etag,
    isReplaced: () => false,
  };
  const versions = (contents: string): readonly SourceVersion[] =>
    [...contents].map((etag, at) => ({ id: `v${at}`, marker: false, size: 1, etag, lastModified: at }));
  it.each([
    ['ABA', 'A', { missing: 'BA', same: 1 }],
    ['BA', 'ABA', { same: 2, extra: 'A' }],
    ['AAA', 'AA', { missing: 'A', same: 2 }],
    ['AB', 'AX', { missing: 'B', same: 1, extra: 'X' }],
    ['ABC', 'BC', { passedOver: 'A', same: 2 }],
  ])('takes the longest history for the same: %s, of which there is %s', (source, held, wanted) => {
    const { missing, passedOver, extra, same } = planOf(versions(source), versions(held), comparison);
    const text = (some: readonly SourceVersion[]): string => some.map(({ etag }) => etag).join('');
    expect({ missing: text(missing), passedOver: text(passedOver), extra: text(extra), same }).toEqual({
      ...{ missing: '', passedOver: '', extra: '' },
      ...wanted,
    });
  });
});

describe('an ETag', () => {
  it.each([
    ['0123456789abcdef0123456789abcdef', undefined],
    ['0123456789abcdef0123456789abcdef-3', 3],
  ])('is an MD5: %s', (etag, partCount) => {
    expect(parsedEtag(etag)).toEqual({ md5: Buffer.from(etag.slice(0, 32), 'hex'), partCount });
  });

  it.each(['', 'x', '0123456789ABCDEF0123456789ABCDEF', '0123456789abcdef0123456789abcdef-0', 'abc-1'])(
    'is none: %j',
    (etag) => {
      expect(parsedEtag(etag)).toBeUndefined();
    },
  );
});
