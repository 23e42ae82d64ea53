import { describe, it } from 'vitest';
import { createBucket, get, put, remove, removeBucket, setVersioning } from './requests.ts';
import type { Scenario } from './scenario.ts';
import { expectToHold, isLong } from './verdict.ts';

describe('PutBucketVersioning', () => {
  const flips = [
    ['off', 'on'],
    ['off', 'suspended'],
    ['on', 'suspended'],
    ['suspended', 'on'],
  ] as const;
  const cases = flips.flatMap(([from, to]) =>
    [['null0'], ['v1', 'null0'], []]
      .filter((versions) => from !== 'off' || versions.length < 2)
      .map((versions) => ({ from, to, versions })),
  );

  // An access to the table takes at most a second, during which the clock may advance.
  const slow = { latency: 1000, stall: isLong ? 2 : 1, stalls: [900, 1000] } as const;

  it.each(cases)('from $from to $to over $versions', async ({ from, to, versions }) => {
    const scenario = { versioning: from, keys: { k: versions }, latency: 1000 };
    await expectToHold({ ...scenario, actors: { f: setVersioning(to), p: put('k'), q: put('k') } });
    await expectToHold({ ...scenario, actors: { f: setVersioning(to), d: remove('k'), g: get('k') } });
    await expectToHold({ ...scenario, ...slow, actors: { f: setVersioning(to), p: put('k') } });
  });

  it('a body takes longer than the change', async () => {
    const slowly = { ...put('k'), slow: 5000 };
    await expectToHold({
      ...{ versioning: 'off', keys: { k: ['null0'] }, latency: 1000 },
      actors: { f: setVersioning('on'), p: slowly, q: put('k') },
    });
  });

  it('the process that changes it crashes', async () => {
    await expectToHold({
      ...{ versioning: 'off', keys: { k: ['null0'] }, latency: 1000, crashes: 1 },
      actors: { f: setVersioning('on'), p: put('k'), g: get('k') },
    });
  });

  it('where further conditions are free', async () => {
    await expectToHold({
      ...{ versioning: 'off', keys: { k: ['null0'] }, freeChecks: true },
      actors: { f: setVersioning('on'), p: put('k'), q: remove('k'), g: get('k') },
    });
  });
});

describe.each(['off', 'on'] as const)('DeleteBucket, versioning %s', (versioning) => {
  const empty = { versioning, keys: { k: [] } } satisfies Partial<Scenario>;

  it.each([0, 1])('PUT, and somebody takes the name; %i crashes', async (crashes) => {
    const actors = { x: removeBucket, p: put('k'), c: createBucket };
    await expectToHold({ ...empty, crashes, mayCrash: ['x'], actors });
  });

  it.each([0, 1])('PUT, and somebody else deletes it, too; %i crashes', async (crashes) => {
    const actors = { x: removeBucket, y: removeBucket, p: put('k') };
    await expectToHold({ ...empty, crashes, mayCrash: ['x'], actors });
  });

  it('a DELETE that leaves a marker, and the writer crashes', async () => {
    await expectToHold({ ...empty, crashes: 1, actors: { x: removeBucket, d: remove('k') } });
  });

  it('takes longer than anybody waits for it', async () => {
    const slow = { stall: isLong ? 3 : 2, stalls: [6000] };
    await expectToHold({ ...empty, ...slow, actors: { x: removeBucket, p: put('k') } });
  });

  it('where further conditions are free', async () => {
    await expectToHold({ ...empty, freeChecks: true, actors: { x: removeBucket, p: put('k'), c: createBucket } });
  });
});
