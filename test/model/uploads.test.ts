import { describe, it } from 'vitest';
import { abort, complete, put, release, removeBucket, uploadPart } from './requests.ts';
import type { Scenario } from './scenario.ts';
import { expectToHold, isLong } from './verdict.ts';

const open = {
  ...{ versioning: 'on', keys: { k: [] }, upload: true },
  ...(isLong ? ({ apart: true } as const) : {}),
} as const satisfies Partial<Scenario>;

describe('an upload with one part', () => {
  it('its part again, and two that complete it', async () => {
    await expectToHold({ ...open, actors: { b: uploadPart, c: complete, d: complete } });
  });

  it('its part again, completed and aborted', async () => {
    await expectToHold({ ...open, actors: { b: uploadPart, c: complete, x: abort } });
    await expectToHold({ ...open, crashes: 1, actors: { b: uploadPart, c: complete, x: abort } });
  });

  it('its part again, completed, and what is left is cleared away', async () => {
    await expectToHold({ ...open, actors: { b: uploadPart, c: complete, r: release } });
  });

  it('completed and aborted, and what is left is cleared away', async () => {
    await expectToHold({ ...open, actors: { c: complete, x: abort, r: release } });
  });

  it('completed twice, and what is left is cleared away', async () => {
    await expectToHold({ ...open, actors: { c: complete, d: complete, r: release } });
  });

  it('completed twice, with a crash', async () => {
    await expectToHold({ ...open, crashes: 1, actors: { c: complete, d: complete } });
  });

  it('completed while its key is written', async () => {
    await expectToHold({ ...open, versioning: 'off', actors: { c: complete, p: put('k'), r: release } });
  });

  it('completed while its bucket goes', async () => {
    await expectToHold({ ...open, crashes: 1, mayCrash: ['x'], actors: { c: complete, x: removeBucket } });
  });

  it('where further conditions are free', async () => {
    await expectToHold({ ...open, freeChecks: true, actors: { b: uploadPart, c: complete, x: abort } });
  });
});
