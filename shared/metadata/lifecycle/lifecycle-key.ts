import type { Bucket } from '../buckets/bucket.ts';
import { expiredMarkerRule, expiryRule, noncurrentRule, type AgingVersion, type Time } from './lifecycle.ts';
import type { EnabledRule, Tags } from './lifecycle-rules.ts';
import type { Objects } from '../objects/objects.ts';
import { SeenNoMore } from '../objects/outcomes.ts';
import { asService } from '../objects/service-authorisation.ts';
import type { CurrentVersion, Version } from '../objects/versions.ts';

/** What was done, counted. */
export interface LifecycleTally {
  /** Keys that were looked at. */
  readonly keys: number;
  /** Current versions that were deleted, or got a delete marker above them. */
  readonly expired: number;
  /** Non-current versions that were removed. */
  readonly removed: number;
  /** Delete markers that were all there was of their keys, and were removed. */
  readonly markers: number;
  /** Uploads that were aborted. */
  readonly aborted: number;
  /** Keys and uploads that were changed while they were looked at, and were left alone: the next pass looks again. */
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

/** Older versions that are read at once. */
const versionsPerPage = 500;

/** A key as a scan saw it, and the rules that may say something about it. */
export interface SeenKey {
  readonly bucket: Bucket;
  readonly key: string;
  readonly currentVersion: CurrentVersion;
  readonly rules: readonly EnabledRule[];
}

/**
 * Does what is due of one key. Each change hangs on the key as it was seen, or as the change before has left it: whatever anybody writes in
 * between, be it an object, tags or the removal of a version, makes the rest of it void. Done again, it changes nothing more.
 */
export async function applyToKey(
  objects: Objects,
  { bucket, key, currentVersion, rules }: SeenKey,
  time: Time,
): Promise<LifecycleTally> {
  const done = { ...nothingDone, keys: 1 };
  const ruleOf = (version: Version, judge: (aging: AgingVersion) => EnabledRule | undefined) =>
    judgeWithTags(objects, version, judge);
  const authorisation = asService(bucket, key);
  let present: CurrentVersion | undefined = currentVersion;
  try {
    if (await ruleOf(present, (aging) => expiryRule(rules, key, aging, time))) {
      const removal = { by: 'lifecycle', expires: 'object', authorisation, seen: present } as const;
      present = (await objects.remove(removal)).currentVersion;
      done.expired += 1;
    }
    if (present && present.olderCount > 0 && rules.some(({ noncurrent }) => noncurrent)) {
      let newer = 0;
      for await (const { version, successor } of olderVersions(objects, bucket, key, present)) {
        const place = { newer, successor };
        if (await ruleOf(version, (aging) => noncurrentRule(rules, key, aging, place, time))) {
          const seen: CurrentVersion = present;
          const removed = await objects.remove({ by: 'lifecycle', expires: 'version', authorisation, seen, version });
          present = removed.currentVersion!;
          done.removed += 1;
        } else {
          newer += 1;
        }
      }
    }
    if (present?.marker && present.olderCount === 0) {
      if (expiredMarkerRule(rules, key, { ...present, tags: [] }, time)) {
        await objects.remove({ by: 'lifecycle', expires: 'version', authorisation, seen: present, version: present });
        done.markers += 1;
      }
    }
  } catch (error) {
    if (!(error instanceof SeenNoMore)) throw error;
    done.changed += 1;
  }
  return done;
}

/** Non-current versions, newest first, each with the one that took its place. */
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

/** Judges a version without its tags where these must be read first, and with them only if that could make a difference. */
async function judgeWithTags(
  objects: Objects,
  version: Version,
  judge: (aging: AgingVersion) => EnabledRule | undefined,
): Promise<EnabledRule | undefined> {
  const tags = tagsAtHand(version);
  const rule = judge({ ...version, tags });
  if (rule === undefined || tags !== undefined) return rule;
  return judge({ ...version, tags: (await objects.objectAttributes(version)).tags });
}

function tagsAtHand({ tagCount, objectAttributes }: Version): Tags | undefined {
  if (tagCount === 0) return [];
  return 'details' in objectAttributes ? undefined : objectAttributes.tags;
}
