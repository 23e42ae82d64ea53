import { describe, it } from 'vitest';
import { copy, get, list, put, release, remove, removeVersion, rename, setVersioning } from './requests.ts';
import type { Scenario } from './scenario.ts';
import { expectToHold, isLong } from './verdict.ts';

const apart = isLong ? ({ apart: true } as const) : {};

describe.each(['off', 'on'] as const)('versioning %s', (versioning) => {
  const versions = versioning === 'off' ? ['null0'] : ['v1'];
  const removal = versioning === 'off' ? remove('k') : removeVersion('k', 'v1');
  const two = { versioning, keys: { k: versions, j: [] }, ...apart } satisfies Partial<Scenario>;
  const one = { versioning, keys: { k: versions }, ...apart } satisfies Partial<Scenario>;

  it('a copy, its source goes, and bytes are released', async () => {
    await expectToHold({ ...two, actors: { c: copy('k', 'j'), d: removal, r: release } });
  });

  it('a copy, its source is replaced, and bytes are released', async () => {
    await expectToHold({ ...two, actors: { c: copy('k', 'j'), p: put('k'), r: release } });
  });

  it('a copy, its target is replaced, and bytes are released', async () => {
    await expectToHold({ ...two, actors: { c: copy('k', 'j'), p: put('j'), r: release } });
  });

  it('a copy that crashes, its source is replaced, and bytes are released', async () => {
    const actors = { c: copy('k', 'j'), p: put('k'), r: release };
    await expectToHold({ ...two, crashes: 1, mayCrash: ['c'], actors });
  });

  it('a copy onto itself, PUT, and bytes are released', async () => {
    await expectToHold({ ...one, actors: { c: copy('k', 'k'), r: release } });
    await expectToHold({ ...one, actors: { c: copy('k', 'k'), p: put('k'), r: release } });
  });

  it('copies to and fro, and the first goes', async () => {
    await expectToHold({ ...two, actors: { c: copy('k', 'j'), e: copy('j', 'k'), d: removal } });
  });

  it('a renaming, its source is replaced, and somebody looks', async () => {
    await expectToHold({ ...two, actors: { c: rename('k', 'j'), p: put('k'), g: get('k') } });
  });

  it('a renaming, its target is replaced, and bytes are released', async () => {
    await expectToHold({ ...two, actors: { c: rename('k', 'j'), p: put('j'), r: release } });
  });

  it('a renaming, its source goes, and bytes are released', async () => {
    await expectToHold({ ...two, actors: { c: rename('k', 'j'), d: removal, r: release } });
  });

  it('a renaming, and a listing', async () => {
    await expectToHold({ ...two, crashes: 1, mayCrash: ['c'], actors: { c: rename('k', 'j'), l: list } });
  });
});

it('a renaming begins, its target is taken, and the bucket becomes versioned before it is tried again', async (context) => {
  if (!isLong) context.skip('takes minutes; to run it, set TEST_LONG=1');
  await expectToHold({
    ...{ versioning: 'off', keys: { k: ['null0'], j: [] }, latency: 1000 },
    actors: { c: rename('k', 'j'), p: put('j'), f: setVersioning('on'), g: get('k') },
  });
});

describe('bytes are released while versions move', () => {
  it('PUT, DELETE of what it put', async () => {
    const actors = { p: put('k'), d: removeVersion('k', 'p'), r: release };
    await expectToHold({ versioning: 'on', keys: { k: ['v1'] }, actors, ...apart });
  });

  it('PUT, DELETE of the newest, items shown apart', async () => {
    const actors = { p: put('k'), d: removeVersion('k', 'v2'), r: release };
    await expectToHold({ versioning: 'on', keys: { k: ['v2', 'v1'] }, actors, apart: true });
  });
});
