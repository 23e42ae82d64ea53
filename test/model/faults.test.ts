import { describe, it } from 'vitest';
import {
  abort,
  complete,
  copy,
  createBucket,
  get,
  put,
  putIfAbsent,
  remove,
  removeBucket,
  removeVersion,
  rename,
  setVersioning,
  tag,
} from './requests.ts';
import type { Scenario } from './scenario.ts';
import { expectToHold, isLong } from './verdict.ts';

/**
 * The answer of a write is lost (it was applied, was not, or may still be), or the table throttles an access. Either may happen at any
 * access, even after a commit.
 */
const faults = [
  ['an answer is lost', { lost: 1 }],
  ['the table is busy', { busy: 1 }],
] as const;

const beginnings = [
  ['off', ['null0'], 'null'],
  ['on', ['v1'], 'v1'],
  ['suspended', ['v1', 'null0'], 'v1'],
] as const;

describe.each(faults)('%s', (_fault, fault) => {
  describe.each(beginnings)('versioning %s', (versioning, versions, newest) => {
    const one = { versioning, keys: { k: versions }, ...fault } satisfies Partial<Scenario>;
    const two = { versioning, keys: { k: versions, j: [] }, ...fault } satisfies Partial<Scenario>;
    const none = { versioning, keys: { k: [] }, ...fault } satisfies Partial<Scenario>;
    const upload = { ...none, upload: true } as const;

    it('PUT', async () => {
      await expectToHold({ ...none, actors: { p: putIfAbsent('k') } });
      await expectToHold({ ...one, actors: { p: put('k'), q: put('k') } });
      await expectToHold({ ...one, actors: { p: put('k'), d: remove('k') } });
      if (isLong) await expectToHold({ ...one, actors: { p: put('k'), d: remove('k'), g: get('k') } });
    });

    it('tags', async () => {
      await expectToHold({ ...one, actors: { p: put('k'), t: tag('k') } });
    });

    it('DELETE', async () => {
      await expectToHold({ ...one, actors: { d: removeVersion('k', newest), g: get('k') } });
    });

    it('copies and renaming', async () => {
      await expectToHold({ ...two, actors: { c: copy('k', 'j'), p: put('k') } });
      await expectToHold({ ...one, actors: { c: copy('k', 'k'), p: put('k') } });
      await expectToHold({ ...two, actors: { c: rename('k', 'j'), g: get('k') } });
    });

    it('uploads', async () => {
      await expectToHold({ ...upload, actors: { c: complete, d: complete } });
      await expectToHold({ ...upload, actors: { c: complete, p: put('k') } });
      await expectToHold({ ...upload, actors: { c: complete, x: abort } });
    });

    it('buckets', async () => {
      await expectToHold({ ...none, actors: { c: createBucket, x: removeBucket } });
      await expectToHold({ ...none, actors: { p: put('k'), x: removeBucket } });
    });

    it('a change of versioning', async () => {
      const to = versioning === 'on' ? 'suspended' : 'on';
      await expectToHold({ ...one, latency: 1000, actors: { f: setVersioning(to), p: put('k') } });
    });
  });
});
