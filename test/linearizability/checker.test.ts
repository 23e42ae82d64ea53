import { describe, expect, it } from 'vitest';
import { linearize, type Operation } from './checker.ts';
import { emptyGroup, operationsOf, type Answer, type Group, type Recorded, type Request } from './objects.ts';
import { Random } from './random.ts';

const keys = ['a', 'b'];

/** A request, when it was sent and answered, and the answer. Without an answer it may happen until `ended`, or never. */
type Line = readonly [began: number, ended: number, request: Request, answer?: Partial<Answer>];

function isLinearizable(versioning: Group['versioning'], lines: readonly Line[]): boolean {
  const operations = lines.flatMap(([began, ended, request, answer], number) => {
    const recorded: Recorded = { number, request, began, ended, answer: answer && { status: 200, ...answer } };
    return operationsOf(recorded, keys);
  });
  return linearize(emptyGroup(versioning, keys), operations).linearizable;
}

const put = (key: string, etag: string): Request => ({ do: 'put', via: 'PUT', key, etag });
const claim = (key: string, etag: string): Request => ({ ...put(key, etag), condition: 'absent' }) as Request;
const swap = (key: string, from: string, to: string): Request =>
  ({ ...put(key, to), condition: { etag: from } }) as Request;
const get = (key: string): Request => ({ do: 'get', via: 'GET', key });
const remove = (key: string): Request => ({ do: 'delete', key });
const copy: Request = { do: 'copy', from: 'a', to: 'b' };
const rename: Request = { do: 'rename', from: 'a', to: 'b' };
const list: Request = { do: 'list' };
const missing = { status: 404 };
const refused = { status: 412 };
const put1: Line = [1, 2, put('a', '1'), {}];

/** Pairs of histories that differ in one answer: the first is right, the second a violation that must be found. */
const violations: Record<string, { right: readonly Line[]; wrong: readonly Line[] }> = {
  'a stale read': {
    right: [put1, [3, 4, put('a', '2'), {}], [5, 6, get('a'), { etag: '2' }]],
    wrong: [put1, [3, 4, put('a', '2'), {}], [5, 6, get('a'), { etag: '1' }]],
  },
  'an old value after a new one, while a write is in progress': {
    right: [put1, [3, 9, put('a', '2'), {}], [4, 5, get('a'), { etag: '1' }], [6, 7, get('a'), { etag: '2' }]],
    wrong: [put1, [3, 9, put('a', '2'), {}], [4, 5, get('a'), { etag: '2' }], [6, 7, get('a'), { etag: '1' }]],
  },
  'a lost update': {
    right: [
      put1,
      [3, 6, swap('a', '1', '2'), {}],
      [4, 7, swap('a', '1', '3'), refused],
      [8, 9, get('a'), { etag: '2' }],
    ],
    wrong: [put1, [3, 6, swap('a', '1', '2'), {}], [4, 7, swap('a', '1', '3'), {}], [8, 9, get('a'), { etag: '3' }]],
  },
  'two first writers': {
    right: [[1, 5, claim('a', '1'), {}], [2, 6, claim('a', '2'), refused]], // prettier-ignore
    wrong: [[1, 5, claim('a', '1'), {}], [2, 6, claim('a', '2'), {}]], // prettier-ignore
  },
  'a refusal without a reason': {
    right: [put1, [3, 4, claim('a', '2'), refused]],
    wrong: [[3, 4, claim('a', '2'), refused]],
  },
  'an acknowledged write that a kill has lost': {
    right: [put1, [3, 5, put('a', '2')], [6, 7, get('a'), { etag: '1' }]],
    wrong: [put1, [3, 5, put('a', '2')], [6, 7, get('a'), missing]],
  },
  'an object that comes back after a kill': {
    right: [put1, [3, 4, remove('a'), { status: 204 }], [5, 6, remove('a')], [7, 8, get('a'), missing]],
    wrong: [put1, [3, 4, remove('a'), { status: 204 }], [5, 6, remove('a')], [7, 8, get('a'), { etag: '1' }]],
  },
  'an unanswered write that happens after the process ended': {
    right: [[1, 3, put('a', '1')], [4, 5, get('a'), missing], [6, 7, get('a'), missing]], // prettier-ignore
    wrong: [[1, 3, put('a', '1')], [4, 5, get('a'), missing], [6, 7, get('a'), { etag: '1' }]], // prettier-ignore
  },
  'an unanswered write that happens twice': {
    right: [[1, Infinity, put('a', '1')], [2, 3, get('a'), { etag: '1' }], [4, 5, remove('a'), {}], [6, 7, get('a'), missing]], // prettier-ignore
    wrong: [[1, Infinity, put('a', '1')], [2, 3, get('a'), { etag: '1' }], [4, 5, remove('a'), {}], [6, 7, get('a'), { etag: '1' }]], // prettier-ignore
  },
  'a torn copy': {
    right: [put1, [3, 4, copy, { etag: '1' }], [5, 6, get('b'), { etag: '1' }]],
    wrong: [put1, [3, 4, copy, { etag: '1' }], [5, 6, get('b'), { etag: 'other bytes than those of 1' }]],
  },
  'a copy of what was overwritten before it began': {
    right: [put1, [3, 4, put('a', '2'), {}], [5, 6, copy, { etag: '2' }]],
    wrong: [put1, [3, 4, put('a', '2'), {}], [5, 6, copy, { etag: '1' }]],
  },
  'an unanswered copy of something else': {
    right: [put1, [3, 5, copy], [6, 7, get('b'), { etag: '1' }]],
    wrong: [put1, [3, 5, copy], [6, 7, get('b'), { etag: '2' }]],
  },
  'a renamed object under both names': {
    right: [put1, [3, 9, rename, {}], [4, 5, get('b'), { etag: '1' }], [6, 7, get('a'), missing]],
    wrong: [put1, [3, 9, rename, {}], [4, 5, get('b'), { etag: '1' }], [6, 7, get('a'), { etag: '1' }]],
  },
  'a renamed object under neither name': {
    right: [put1, [3, 9, rename, {}], [4, 5, get('a'), missing], [6, 7, get('b'), { etag: '1' }]],
    wrong: [put1, [3, 9, rename, {}], [4, 5, get('a'), missing], [6, 7, get('b'), missing]],
  },
  'a listing that misses': {
    right: [put1, [3, 6, put('b', '2'), {}], [4, 5, list, { listed: { a: '1' } }]],
    wrong: [put1, [3, 6, put('b', '2'), {}], [4, 5, list, { listed: { b: '2' } }]],
  },
  'a listing with what was deleted': {
    right: [put1, [3, 4, remove('a'), {}], [5, 6, list, { listed: {} }]],
    wrong: [put1, [3, 4, remove('a'), {}], [5, 6, list, { listed: { a: '1' } }]],
  },
  'a tag of an earlier object': {
    right: [
      put1,
      [3, 4, { do: 'set tag', key: 'a', tag: 't' }, {}],
      [5, 6, { do: 'get tag', key: 'a' }, { value: 't' }],
    ],
    wrong: [put1, [3, 4, { do: 'set tag', key: 'a', tag: 't' }, {}], [5, 6, put('a', '2'), {}], [7, 8, { do: 'get tag', key: 'a' }, { value: 't' }]], // prettier-ignore
  },
  'an ACL that was reset': {
    right: [put1, [3, 4, { do: 'set ACL', key: 'a', acl: 'public-read' }, {}], [5, 6, { do: 'get ACL', key: 'a' }, { value: 'public-read' }]], // prettier-ignore
    wrong: [put1, [3, 4, { do: 'set ACL', key: 'a', acl: 'public-read' }, {}], [5, 6, { do: 'get ACL', key: 'a' }, { value: 'private' }]], // prettier-ignore
  },
};

const version1: Line = [1, 2, put('a', '1'), { id: 'v1' }];
const version2: Line = [3, 4, put('a', '2'), { id: 'v2' }];
const getVersion = (version: string): Request => ({ do: 'get', via: 'GET', key: 'a', version });
const removeVersion = (version: string): Request => ({ do: 'delete', key: 'a', version });
const listVersions: Request = { do: 'list versions' };

const violationsOfVersions: typeof violations = {
  'a lost version': {
    right: [version1, version2, [5, 6, getVersion('v1'), { etag: '1', id: 'v1' }]],
    wrong: [version1, version2, [5, 6, getVersion('v1'), missing]],
  },
  'versions in the wrong order': {
    right: [version1, version2, [5, 6, listVersions, { versions: { a: [['v2', '2'], ['v1', '1']] } }]], // prettier-ignore
    wrong: [version1, version2, [5, 6, listVersions, { versions: { a: [['v1', '1'], ['v2', '2']] } }]], // prettier-ignore
  },
  'a current version that stays after it was removed': {
    right: [version1, version2, [5, 6, removeVersion('v2'), {}], [7, 8, get('a'), { etag: '1', id: 'v1' }]],
    wrong: [version1, version2, [5, 6, removeVersion('v2'), {}], [7, 8, get('a'), { etag: '2', id: 'v2' }]],
  },
  'an id that changes': {
    right: [
      [1, 2, put('a', '1')],
      [3, 4, get('a'), { etag: '1', id: 'v1' }],
      [5, 6, get('a'), { etag: '1', id: 'v1' }],
    ],
    wrong: [
      [1, 2, put('a', '1')],
      [3, 4, get('a'), { etag: '1', id: 'v1' }],
      [5, 6, get('a'), { etag: '1', id: 'v2' }],
    ],
  },
  'an id that a change of the ACL shows, and that changes': {
    right: [[1, 2, put('a', '1')], [3, 4, { do: 'set ACL', key: 'a', acl: 'private' }, { id: 'v1' }], [5, 6, removeVersion('v1'), {}], [7, 8, get('a'), missing]], // prettier-ignore
    wrong: [[1, 2, put('a', '1')], [3, 4, { do: 'set ACL', key: 'a', acl: 'private' }, { id: 'v1' }], [5, 6, removeVersion('v1'), {}], [7, 8, get('a'), { etag: '1', id: 'v2' }]], // prettier-ignore
  },
  'two versions with one id': {
    right: [version1, [3, 4, put('b', '2'), { id: 'v2' }]],
    wrong: [version1, [3, 4, put('b', '2'), { id: 'v1' }]],
  },
  'a delete marker that is not there': {
    right: [version1, [3, 4, remove('a'), { id: 'm', marker: true }], [5, 6, get('a'), { ...missing, id: 'm', marker: true }]], // prettier-ignore
    wrong: [version1, [3, 4, remove('a'), { id: 'm', marker: true }], [5, 6, get('a'), missing]],
  },
};

describe('the check for linearizability', () => {
  it.each(Object.entries(violations))('finds %s', (_, { right, wrong }) => {
    expect(isLinearizable('off', right)).toBe(true);
    expect(isLinearizable('off', wrong)).toBe(false);
  });

  it.each(Object.entries(violationsOfVersions))('finds %s', (_, { right, wrong }) => {
    expect(isLinearizable('on', right)).toBe(true);
    expect(isLinearizable('on', wrong)).toBe(false);
  });

  it('does not expect that a listing or a copy shows all keys at the same moment', () => {
    const first: Line = [1, 2, put('a', '1'), {}];
    const second: Line = [5, 6, put('b', '2'), {}];
    const between: Line = [3, 4, remove('a'), {}];
    expect(isLinearizable('off', [first, between, second, [0, 7, list, { listed: { a: '1', b: '2' } }]])).toBe(true);
    // The source was overwritten, and the target written by others, before the copy appears.
    const others: readonly Line[] = [[4, 5, put('a', '3'), {}], [6, 7, put('b', '4'), {}], [8, 9, get('b'), { etag: '4' }]]; // prettier-ignore
    expect(isLinearizable('off', [first, ...others, [3, 12, copy, { etag: '1' }], [13, 14, get('b'), { etag: '1' }]])).toBe(true); // prettier-ignore
  });
});

/** A register with a number, and how it may be used. */
type Use = { readonly write: number } | { readonly read: number } | { readonly from: number; readonly to: number };

function registerOperation(use: Use, began: number, ended: number, optional: boolean): Operation<number> {
  const apply = (state: number): readonly number[] => {
    if ('write' in use) return [use.write];
    if ('read' in use) return state === use.read ? [state] : [];
    return state === use.from ? [use.to] : [];
  };
  return { label: JSON.stringify(use), began, ended, optional, readOnly: 'read' in use, apply };
}

/** Tries every order: slow, and obviously right. */
function byEveryOrder(state: number, left: readonly Operation<number>[]): boolean {
  if (left.every(({ optional }) => optional)) return true;
  return left.some((operation) => {
    if (left.some((other) => other !== operation && !other.optional && other.ended < operation.began)) return false;
    const rest = left.filter((other) => other !== operation);
    // One that is left out although its time is over cannot happen later.
    const still = rest.filter((other) => !other.optional || other.ended >= operation.began);
    return operation.apply(state).some((after) => byEveryOrder(after, still));
  });
}

describe('the algorithm', () => {
  it('agrees with a search of every order', () => {
    const found = { linearizable: 0, not: 0 };
    for (let seed = 0; seed < 4000; seed += 1) {
      const random = new Random(seed);
      const value = (): number => random.below(3);
      const history = Array.from({ length: 2 + random.below(5) }, () => {
        const began = random.below(12) + random.next();
        const kind = random.below(3);
        const use = kind === 0 ? { write: value() } : kind === 1 ? { read: value() } : { from: value(), to: value() };
        const optional = random.next() < 0.2;
        const ended = optional && random.next() < 0.5 ? Infinity : began + 6 * random.next();
        return registerOperation(use, began, ended, optional);
      });
      const expected = byEveryOrder(0, history);
      expect(linearize(0, history).linearizable, JSON.stringify({ seed, history })).toBe(expected);
      found[expected ? 'linearizable' : 'not'] += 1;
    }
    expect(Math.min(found.linearizable, found.not)).toBeGreaterThan(500);
  });

  /** Requests that take effect one at a time, at a moment within each, some without an answer. */
  function simulated(seed: number, length: number): Operation<number>[] {
    const random = new Random(seed);
    const requests = Array.from({ length }, (_, index) => {
      const began = index + random.next();
      const ended = began + 8 * random.next();
      return { began, ended, effect: began + (ended - began) * random.next(), kind: random.below(4), index };
    });
    let state = 0;
    return requests
      .sort((a, b) => a.effect - b.effect)
      .map(({ began, ended, kind, index }) => {
        const from = state;
        const use = kind < 2 ? { read: state } : kind === 2 ? { write: index } : { from, to: index };
        const optional = !('read' in use) && random.next() < 0.02;
        if (!('read' in use) && (!optional || random.next() < 0.5)) state = index;
        // An unanswered operation may take effect until the next multiple of 100, as though all processes ended there.
        return registerOperation(use, began, optional ? Math.ceil(ended / 100) * 100 : ended, optional);
      });
  }

  it('accepts long histories of a register, and finds one wrong read in them', () => {
    for (let seed = 0; seed < 5; seed += 1) {
      const history = simulated(seed, 2000);
      const verdict = linearize(0, history);
      expect(verdict, `seed ${seed}`).toMatchObject({ linearizable: true });
      // Step by step, and not every order of them: the work does not grow with the length.
      if (verdict.linearizable) expect(verdict.configurations).toBeLessThan(2000);

      const reads = history.filter(({ label }) => label.includes('read'));
      const victim = reads[Math.floor(reads.length / 2)]!;
      const { began, ended } = victim;
      const stale = registerOperation({ read: -1 }, began, ended, false);
      const wrong = linearize(0, [...history.filter((one) => one !== victim), stale]);
      expect(wrong).toMatchObject({ linearizable: false, operation: stale });
    }
  });
});
