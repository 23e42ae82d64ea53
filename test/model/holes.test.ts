import { describe, it } from 'vitest';
import { without } from './missing-rules.ts';
import {
  complete,
  copy,
  get,
  getVersion,
  listVersions,
  put,
  putIfAbsent,
  release,
  remove,
  removeBucket,
  removeVersion,
  setVersioning,
  tag,
  uploadPart,
} from './requests.ts';
import type { Mutation, Scenario } from './scenario.ts';
import { expectToBreak, expectToHold } from './verdict.ts';

/*
 * Every rule of the data model closes a hole: without the rule the scenario fails, with it the scenario holds. The holes of the followers
 * (double counting, shared reads) and of pure functions are in followers.test.ts.
 */

function hole(title: string, rule: Mutation, how: RegExp, scenario: Scenario): void {
  it(`${title}: opens`, async () => {
    await expectToBreak({ ...scenario, mutation: rule }, how);
  });
  it(`${title}: closed`, async () => {
    await expectToHold(scenario);
  });
}

const lost = /not linearizable/;
const noBytes = /data loss|I7/;

describe('H 1: writes compare the write token, not the version', () => {
  // PUT demotes the image that it read, so the tag acknowledged since then is lost.
  hole('a tag during a PUT', without.tokens, lost, {
    ...{ versioning: 'on', keys: { k: ['v1'] } },
    actors: { p: put('k'), t: tag('k') },
  });
  // PUT counts one older version more than the image it read, although one has been deleted.
  hole('DELETE of an older version during a PUT', without.tokens, /I2/, {
    ...{ versioning: 'on', keys: { k: ['v3', 'v2', 'v1'] } },
    actors: { d: removeVersion('k', 'v2'), p: put('k') },
  });
});

describe('H 3: that a version is missing is concluded from reads of one instant', () => {
  // The version moves from noncurrent to current between the two reads.
  hole('GET during a promotion', without.aSecondLook, lost, {
    ...{ versioning: 'on', keys: { k: ['v2', 'v1'] } },
    actors: { g: getVersion('k', 'v1'), d: removeVersion('k', 'v2') },
  });
  hole('DELETE during a promotion', without.aSecondLook, lost, {
    ...{ versioning: 'on', keys: { k: ['v2', 'v1'] } },
    actors: { e: removeVersion('k', 'v1'), d: removeVersion('k', 'v2') },
  });
  // The new current version is visible; the version that it demoted is not yet.
  hole('GET during a PUT that is half visible', without.readsOfOneInstant, lost, {
    ...{ versioning: 'on', keys: { k: ['v1'] }, apart: true },
    actors: { p: put('k'), g: getVersion('k', 'v1') },
  });
});

describe('H 4: each version names the previous one', () => {
  // DELETE of the version of a half-visible PUT finds the version below the one that it should promote.
  hole('DELETE of the newest during its PUT', without.namesOfTheNext, /I2|not linearizable/, {
    ...{ versioning: 'on', keys: { k: ['v2', 'v1'] }, apart: true },
    actors: { p: put('k'), d: removeVersion('k', 'p') },
  });
});

describe('H 5: whoever has made a current version looks at the bucket again, and waits for the verdict', () => {
  const scenario: Scenario = { versioning: 'off', keys: { k: [] }, actors: { x: removeBucket, p: put('k') } };
  // PUT commits between the check and the delete of DeleteBucket.
  hole('no look', without.lookAfterCommit, lost, scenario);
  hole('a closing bucket is taken for an open one', without.verdictOnClosing, lost, scenario);
  // The answer is NoSuchBucket, although the bucket turns out not to be empty and remains.
  hole('a closing bucket is taken for a gone one', without.patienceWithClosing, lost, {
    ...scenario,
    actors: { x: removeBucket, p: put('k'), q: put('k') },
  });
});

describe('H 6: a new versioning state settles before anybody commits under it', () => {
  // A PUT that read "off" overwrites the null version after "on" was acknowledged and the null version was read.
  hole('PUT from before, GET after', without.settling, lost, {
    ...{ versioning: 'off', keys: { k: ['null0'] }, latency: 1000 },
    actors: { f: setVersioning('on'), p: put('k'), g: get('k') },
  });
  hole('DELETE from before, GET after', without.settling, lost, {
    ...{ versioning: 'suspended', keys: { k: ['null0'] }, latency: 1000 },
    actors: { f: setVersioning('on'), d: remove('k'), g: get('k') },
  });
  hole('PUTs from before and after', without.settling, lost, {
    ...{ versioning: 'on', keys: { k: ['v1', 'null0'] }, latency: 1000 },
    actors: { f: setVersioning('suspended'), p: put('k'), q: put('k') },
  });
  // An unversioned PUT that replaces any version overwrites the one that was put in between.
  const { services } = without.settling;
  hole('an unversioned PUT that looks at nothing', { ...without.refusalOfNames, services }, /not linearizable|I[1-7]/, {
    ...{ versioning: 'off', keys: { k: [] }, latency: 1000 },
    actors: { f: setVersioning('on'), p: put('k'), q: put('k') },
  });

  it('what remains: a commit that takes longer than the state settles', async () => {
    await expectToBreak(
      {
        ...{ versioning: 'off', keys: { k: ['null0'] }, latency: 10_000, stall: 1 },
        actors: { f: setVersioning('on'), p: putIfAbsentOrNot, g: get('k') },
      },
      lost,
    );
  });
});

/** It reads the current version and commits on its token: only the time limit prevents a late commit. */
const putIfAbsentOrNot = { do: 'put', key: 'k', only: { match: 'null0' } } as const;

describe('H 7: bytes that are shared have holders, and go only when the last is gone', () => {
  const one = { versioning: 'off', keys: { k: ['null0'] } } as const;
  const two = { versioning: 'off', keys: { k: ['null0'], j: [] } } as const;
  hole('a copy that does not look whether its source lives', without.lookAtTheSource, /data loss|I6|I7/, {
    ...two,
    actors: { c: copy('k', 'j'), d: remove('k'), r: release },
  });
  hole('a copy that does not hold', without.references, noBytes, {
    ...two,
    actors: { c: copy('k', 'j'), d: remove('k') },
  });
  hole('a copy onto itself that does not hold', without.references, noBytes, { ...one, actors: { c: copy('k', 'k') } });
  // According to the record the version left its item: it became noncurrent, or current again.
  hole('release by the record alone', without.lookBeforeRelease, noBytes, {
    ...{ versioning: 'on', keys: { k: ['v2', 'v1'] } },
    actors: { d: removeVersion('k', 'v2') },
  });
  hole('release by two plain reads', without.instantOfRelease, noBytes, {
    ...{ versioning: 'on', keys: { k: ['v1'] }, apart: true },
    actors: { p: put('k'), r: release },
  });
});

describe('H 8: no part takes the place of another, or removes itself', () => {
  const open = { versioning: 'on', keys: { k: [] }, upload: true } as const;
  // Complete has read the first part; it is uploaded again, and the bytes that it replaces are freed.
  hole('a part replaced while it is picked', without.partsOfTheirOwn, noBytes, {
    ...open,
    actors: { b: uploadPart, c: complete },
  });
  // The late part is the one that Complete used.
  hole('a late part that takes itself away', without.latePartsLeftAlone, noBytes, {
    ...open,
    actors: { b: uploadPart, c: complete },
  });
});

describe('H 9: a conflict is never caused by the very write, and what may have happened is not cleaned up', () => {
  // The request whose write succeeded is answered as though another had been faster.
  hole('a conditional write that is sent again', without.onceOnly, /not linearizable|data loss|I7/, {
    ...{ versioning: 'on', keys: { k: [] } },
    actors: { p: putIfAbsent('k') },
  });
  hole('a lost answer taken for a refusal', without.theUnknown, /not linearizable|data loss|I7/, {
    ...{ versioning: 'on', keys: { k: ['v1'] }, lost: 1 },
    actors: { p: put('k') },
  });
  hole('a lost answer taken for a refusal, and a condition', without.theUnknown, noBytes, {
    ...{ versioning: 'on', keys: { k: [] }, lost: 1 },
    actors: { p: putIfAbsent('k') },
  });
});

describe('H 10: a listing shows only what was there at one moment', () => {
  // An overwritten version is listed twice.
  hole('PUT between current and noncurrent versions', without.orderOfVersions, lost, {
    ...{ versioning: 'on', keys: { k: ['v2', 'v1'] } },
    actors: { l: listVersions, p: put('k') },
  });
  // The promoted version is not listed at all.
  hole('DELETE of the newest between current and noncurrent versions', without.chainCheck, lost, {
    ...{ versioning: 'on', keys: { k: ['v2', 'v1'] } },
    actors: { l: listVersions, d: removeVersion('k', 'v2') },
  });
});
