import { describe, it } from 'vitest';
import { copy, get, getVersion, listVersions, put, putIfAbsent, remove, removeVersion, tag } from './requests.ts';
import type { Scenario } from './scenario.ts';
import { expectToHold, isLong } from './verdict.ts';

type Beginning = Pick<Scenario, 'versioning'> & { readonly versions: readonly string[] };

const beginnings: readonly Beginning[] = [
  { versioning: 'off', versions: [] },
  { versioning: 'off', versions: ['null0'] },
  { versioning: 'on', versions: [] },
  { versioning: 'on', versions: ['null0'] },
  { versioning: 'on', versions: ['v1', 'null0'] },
  { versioning: 'on', versions: ['v2!', 'v1'] },
  { versioning: 'suspended', versions: [] },
  { versioning: 'suspended', versions: ['null0'] },
  { versioning: 'suspended', versions: ['v1', 'null0'] },
  { versioning: 'suspended', versions: ['v2', 'v1', 'null0'] },
  { versioning: 'suspended', versions: ['null0!', 'v1'] },
];

describe.each(beginnings)('versioning $versioning, versions $versions', ({ versioning, versions }) => {
  const keys = { k: versions };

  it('two PUTs, one of them by a clock that stands behind', async () => {
    await expectToHold({ versioning, keys, actors: { p: put('k'), q: put('k') }, skew: { q: -120_000 } });
  });

  it('PUTs that want to be the first', async () => {
    await expectToHold({ versioning, keys, actors: { p: putIfAbsent('k'), q: putIfAbsent('k') } });
    const third = isLong ? { r: putIfAbsent('k') } : {};
    await expectToHold({ versioning, keys, actors: { p: putIfAbsent('k'), q: put('k'), d: remove('k'), ...third } });
  });

  it('PUT, and tags', async () => {
    await expectToHold({ versioning, keys, actors: { p: put('k'), t: tag('k') } });
    await expectToHold({ versioning, keys, actors: { s: { ...tag('k'), long: true }, t: tag('k'), g: get('k') } });
  });

  it('PUT, and DELETE of the null version', async () => {
    await expectToHold({ versioning, keys, actors: { p: put('k'), d: removeVersion('k', 'null') }, apart: true });
  });

  it('PUT that wants to replace what it knows, PUT, and a crash', async () => {
    const known = { do: 'put', key: 'k', only: { match: 'null0' } } as const;
    await expectToHold({ versioning, keys, actors: { p: known, q: put('k') }, crashes: 1 });
  });

  it('PUT, DELETE and GET', async () => {
    const apart = versioning !== 'off' && isLong ? ({ apart: true } as const) : {};
    await expectToHold({ versioning, keys, actors: { p: put('k'), d: remove('k'), g: get('k') }, ...apart });
  });

  it('a PUT of many attributes, PUT and DELETE', async () => {
    await expectToHold({ versioning, keys, actors: { p: { ...put('k'), long: true }, q: put('k'), d: remove('k') } });
  });

  it('the same where further conditions are free', async () => {
    await expectToHold({ versioning, keys, actors: { p: put('k'), d: remove('k') }, freeChecks: true });
    await expectToHold({ versioning, keys, actors: { c: copy('k', 'k'), p: put('k') }, freeChecks: true });
  });
});

/** Scenarios with three actors, each with an atomic table and with one whose transactions become visible item by item. */
const versionScenarios: Readonly<Record<string, Scenario>> = {
  'DELETE of the newest, PUT, GET of an older': {
    ...{ versioning: 'on', keys: { k: ['v2', 'v1'] } },
    actors: { d: removeVersion('k', 'v2'), p: put('k'), g: getVersion('k', 'v1') },
  },
  'DELETE of the newest, DELETE of the next, GET': {
    ...{ versioning: 'on', keys: { k: ['v3', 'v2', 'v1'] } },
    actors: { d: removeVersion('k', 'v3'), e: removeVersion('k', 'v2'), g: getVersion('k', 'v1') },
  },
  'PUT, DELETE of what it put, GET of an older': {
    ...{ versioning: 'on', keys: { k: ['v2', 'v1'] } },
    actors: { p: put('k'), d: removeVersion('k', 'p'), g: getVersion('k', 'v2') },
  },
  'DELETE of the oldest, PUT, DELETE of the newest': {
    ...{ versioning: 'on', keys: { k: ['v3', 'v2', 'v1'] } },
    actors: { d: removeVersion('k', 'v1'), p: put('k'), e: removeVersion('k', 'v3') },
  },
  'PUT over a deep null version, DELETE of the newest, GET of the null one': {
    ...{ versioning: 'suspended', keys: { k: ['v3', 'v2', 'null0'] } },
    actors: { p: put('k'), d: removeVersion('k', 'v3'), g: getVersion('k', 'null') },
  },
  'DELETE, DELETE of the null version, PUT': {
    ...{ versioning: 'suspended', keys: { k: ['v3', 'null0'] } },
    actors: { x: remove('k'), d: removeVersion('k', 'null'), p: put('k') },
  },
  'an undeletion, PUT, and a listing of versions': {
    ...{ versioning: 'on', keys: { k: ['v2!', 'v1'] } },
    actors: { d: removeVersion('k', 'v2'), p: put('k'), l: listVersions },
  },
  'DELETE of the newest, PUT, and a listing of versions': {
    ...{ versioning: 'on', keys: { k: ['v2', 'v1'] } },
    actors: { d: removeVersion('k', 'v2'), p: put('k'), l: listVersions },
  },
  'DELETE of the oldest, PUT, and a listing of versions': {
    ...{ versioning: 'on', keys: { k: ['v3', 'v2', 'v1'] } },
    actors: { d: removeVersion('k', 'v1'), p: put('k'), l: listVersions },
  },
};

/** These have tens of thousands of states if transactions become visible item by item. */
const large = [
  'DELETE of the oldest',
  'PUT over a deep',
  'DELETE, DELETE',
  'an undeletion',
  'DELETE of the newest, PUT, and a',
];

describe.each(Object.entries(versionScenarios))('%s', (title, scenario) => {
  it('where transactions are shown at once', async () => {
    await expectToHold(scenario);
  });

  it('where they are shown item by item', async (context) => {
    if (!isLong && large.some((begin) => title.startsWith(begin)))
      context.skip('takes minutes; to run it, set TEST_LONG=1');
    await expectToHold({ ...scenario, apart: true });
  });
});

it('a crash anywhere: DELETE of the newest, PUT, DELETE of the null version', async () => {
  await expectToHold({
    ...{ versioning: 'on', keys: { k: ['v2', 'null0'] }, crashes: 1 },
    actors: { d: removeVersion('k', 'v2'), p: put('k'), e: removeVersion('k', 'null') },
  });
});
