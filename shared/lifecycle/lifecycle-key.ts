import type { Bucket } from '../storage/buckets/bucket.ts';
import { expiredMarkerRule, expiryRule, noncurrentRule, type AgingVersion, type Time } from './lifecycle.ts';
import type { EnabledRule, Tags } from './lifecycle-rules.ts';
import { neverDue, nextDueOfCurrent, nextDueOfNoncurrent } from './next-due.ts';
import type { Objects } from '../storage/objects/objects.ts';
import { SeenNoMore } from '../storage/version-changes/outcomes.ts';
import { asLifecycle } from '../storage/version-changes/service-authorisation.ts';
import { LockedVersion } from '../storage/versions/object-lock.ts';
import type { CurrentVersion, Version } from '../storage/versions/versions.ts';

/** Counts of lifecycle actions. */
export interface LifecycleTally {
  /** Keys checked. */
  readonly keys: number;
  /** Current versions deleted or covered by a delete marker. */
  readonly expired: number;
  /** Noncurrent versions removed. */
  readonly removed: number;
  /** Delete markers removed because no other version of their key was left. */
  readonly markers: number;
  /** Uploads aborted. */
  readonly aborted: number;
  /** Keys and uploads left for the next pass because they changed while they were being processed. */
  readonly changed: number;
}

export const nothingDone: LifecycleTally = { keys: 0, expired: 0, removed: 0, markers: 0, aborted: 0, changed: 0 };

export function addTallies(a: LifecycleTally, b: LifecycleTally): LifecycleTally {
  return {
    keys: a.keys + b.keys,
    expired: a.expired + b.expired,
    removed: a.removed + b.removed,
    markers: a.markers + b.markers,
    aborted: a.aborted + b.aborted,
    changed: a.changed + b.changed,
  };
}

/** What a pass has done to a key, for whoever keeps a log of its bucket. */
export interface LifecycleAct {
  readonly bucket: Bucket;
  readonly key: string;
  /** A version is gone, the current one is covered by a delete marker, or an upload was aborted. */
  readonly what: 'expired' | 'covered' | 'aborted';
  /** The version that is gone, or the marker. */
  readonly version?: Version | undefined;
}

/** Hears of each act once it is done. Never waits. */
export type LifecycleObserver = (act: LifecycleAct) => void;

/** The outcome of processing a key or an upload. */
export interface Processed {
  readonly done: LifecycleTally;
  /** The time before which nothing else is due: 0 if that is not known, infinite if nothing is left. */
  readonly nothingDueBefore: number;
}

/** The number of noncurrent versions read at once. */
const versionsPerPage = 500;

/** A key as a scan read it, with the rules that may apply to it. */
export interface SeenKey {
  readonly bucket: Bucket;
  readonly key: string;
  readonly currentVersion: CurrentVersion;
  readonly rules: readonly EnabledRule[];
}

/**
 * Performs the actions that are due for one key. Each change is conditional on the key as read, or as the previous
 * change left it: any write in between (an object, tags, the removal of a version) cancels the rest. Repeating
 * it changes nothing more.
 */
export async function applyToKey(
  objects: Objects,
  { bucket, key, currentVersion, rules }: SeenKey,
  time: Time,
  observe: LifecycleObserver = () => undefined,
): Promise<Processed> {
  const done = { ...nothingDone, keys: 1 };
  let nothingDueBefore = neverDue;
  const ruleOf = (version: Version, evaluate: (aging: AgingVersion) => EnabledRule | undefined) =>
    evaluateWithTags(objects, version, evaluate);
  const authorisation = asLifecycle(bucket, key);
  let present: CurrentVersion | undefined = currentVersion;
  try {
    if (await ruleOf(present, (aging) => expiryRule(rules, key, aging, time))) {
      const removal = { by: 'lifecycle', expires: 'object', authorisation, seen: present } as const;
      const former = present;
      present = (await objects.remove(removal)).currentVersion;
      done.expired += 1;
      observe(
        present?.marker
          ? { bucket, key, what: 'covered', version: present }
          : { bucket, key, what: 'expired', version: former },
      );
    }
    if (present && present.olderCount > 0 && rules.some(({ noncurrent }) => noncurrent)) {
      let newer = 0;
      for await (const { version, successor } of olderVersions(objects, bucket, key, present)) {
        const place = { newer, successor };
        if (await ruleOf(version, (aging) => noncurrentRule(rules, key, aging, place, time))) {
          const seen: CurrentVersion = present;
          const removal = { by: 'lifecycle', expires: 'version', authorisation, seen, version } as const;
          const removed = await objects.remove(removal).catch(unlessLocked);
          if (removed === undefined) {
            // Its lock may end at any time.
            nothingDueBefore = 0;
            newer += 1;
            continue;
          }
          present = removed.currentVersion!;
          done.removed += 1;
          observe({ bucket, key, what: 'expired', version });
        } else {
          newer += 1;
          const dueAt = nextDueOfNoncurrent(rules, key, version, time.calendar);
          nothingDueBefore = Math.min(nothingDueBefore, dueAt);
        }
      }
    }
    if (present?.marker && present.olderCount === 0) {
      if (expiredMarkerRule(rules, key, { ...present, tags: [] }, time)) {
        await objects.remove({ by: 'lifecycle', expires: 'version', authorisation, seen: present, version: present });
        done.markers += 1;
        observe({ bucket, key, what: 'expired', version: present });
        present = undefined;
      }
    }
    if (present) {
      nothingDueBefore = Math.min(nothingDueBefore, nextDueOfCurrent(rules, key, present, time.calendar));
    }
  } catch (error) {
    if (!(error instanceof SeenNoMore)) throw error;
    done.changed += 1;
    nothingDueBefore = 0;
  }
  return { done, nothingDueBefore };
}

/** Locked versions stay until a later pass. */
function unlessLocked(error: unknown): undefined {
  if (!(error instanceof LockedVersion)) throw error;
}

/** Yields the noncurrent versions, newest first, each with its successor. */
async function* olderVersions(
  objects: Objects,
  bucket: Bucket,
  key: string,
  currentVersion: CurrentVersion,
): AsyncGenerator<{ version: Version; successor: Version }> {
  let successor: Version = currentVersion;
  for (;;) {
    const page = await objects.versions(bucket, key, currentVersion, versionsPerPage, successor.instance);
    for (const version of page) {
      yield { version, successor };
      successor = version;
    }
    if (page.length < versionsPerPage) return;
  }
}

/**
 * Evaluates a version without its tags if those would have to be read, and reads them only if they could make a
 * difference.
 */
async function evaluateWithTags(
  objects: Objects,
  version: Version,
  evaluate: (aging: AgingVersion) => EnabledRule | undefined,
): Promise<EnabledRule | undefined> {
  const tags = tagsAtHand(version);
  const rule = evaluate({ ...version, tags });
  if (rule === undefined || tags !== undefined) return rule;
  return evaluate({ ...version, tags: (await objects.objectAttributes(version)).tags });
}

function tagsAtHand({ tagCount, objectAttributes }: Version): Tags | undefined {
  if (tagCount === 0) return [];
  return 'details' in objectAttributes ? undefined : objectAttributes.tags;
}
