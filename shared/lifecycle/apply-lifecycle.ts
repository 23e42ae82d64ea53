import { asService } from '../storage/version-changes/service-authorisation.ts';
import { S3Error } from '../errors/s3-error.ts';
import type { Bucket } from '../storage/buckets/bucket.ts';
import type { Buckets } from '../storage/buckets/buckets.ts';
import { keyBetween } from '../storage/utf8-order.ts';
import { abortRule, realDays, type Calendar, type Time } from './lifecycle.ts';
import { addTallies, applyToKey, nothingDone } from './lifecycle-key.ts';
import type { LifecycleObserver, LifecycleTally, Processed } from './lifecycle-key.ts';
import {
  SliceLost,
  type LifecyclePass,
  type LifecyclePasses,
  type LifecycleSlice,
  type SliceBound,
} from './lifecycle-passes.ts';
import { coveredPrefixes, enabledRules, mayMatchBetween, type EnabledRule } from './lifecycle-rules.ts';
import { boundsRevision, neverDue, nextDueOfNew, nextDueOfUpload, type KeyRange } from './next-due.ts';
import type { Objects } from '../storage/objects/objects.ts';
import type { Uploads } from '../storage/uploads/uploads.ts';
import { compareUtf8 } from '../ports/utf8-order.ts';
import type { Clock } from '../ports/clock.ts';

/** The dependencies of a pass: those of the operations, and the record of its progress. */
export interface LifecycleDeps {
  readonly buckets: Buckets;
  readonly objects: Objects;
  readonly uploads: Uploads;
  readonly passes: LifecyclePasses;
  readonly clock: Clock;
  readonly observe?: LifecycleObserver | undefined;
}

export interface LifecycleOptions {
  readonly calendar: Calendar;
  /** Checks all ranges, even those in which an earlier pass found that nothing is due, and records nothing about them. */
  readonly everyRange?: boolean;
  /** The number of slices this call processes concurrently. */
  readonly workers?: number;
  /** Called between pages: whether to stop, because time is up or the process ends. The next call resumes the rest. */
  readonly stopping?: () => boolean;
  /** The sizes of pages and slices. */
  readonly bounds?: LifecycleBounds;
  /** Called after each page. */
  readonly progress?: (bucket: string, done: LifecycleTally) => void;
}

/** The sizes of pages and slices. */
interface LifecycleBounds {
  /** Keys or uploads per page; the cursor moves after each page. */
  readonly keysPerPage: number;
  /** The number of pages after which a slice is split, if there are too few slices. */
  readonly pagesPerTurn: number;
  /** The number of slices from which no more are split. */
  readonly enoughSlices: number;
}

/** The outcome of a call. */
export interface LifecycleReport {
  readonly pass: LifecyclePass;
  /** The actions of this call alone. */
  readonly done: LifecycleTally;
}

const defaultWorkers = 4;
const defaultBounds: LifecycleBounds = { keysPerPage: 1000, pagesPerTurn: 20, enoughSlices: 32 };
/** The number of a page's keys and uploads processed concurrently. */
const concurrency = 32;
/** The interval between checks for free slices, in milliseconds. */
const pollTime = 200;

/**
 * Applies the lifecycle rules of all buckets that have any: resumes the unfinished pass, or begins a new one. Any
 * number of calls may run at the same time, in any number of processes, and each may die at any moment.
 *
 * It acts as the system, without authorisation. Every action is conditional on what was read, so concurrent changes by
 * users win.
 */
export async function applyLifecycle(deps: LifecycleDeps, options: LifecycleOptions): Promise<LifecycleReport> {
  const begun = await deps.passes.begin();
  const done = { tally: nothingDone };
  let failed = false;
  const own = {
    ...options,
    progress: counting(done, options.progress),
    stopping: () => failed || options.stopping?.() === true,
  };
  const planned = await planPass(deps, begun, own);
  const workers = Array.from({ length: options.workers ?? defaultWorkers }, () =>
    runWorker(deps, own).catch((error: unknown) => {
      failed = true;
      throw error;
    }),
  );
  for (const end of await Promise.allSettled(workers)) if (end.status === 'rejected') throw end.reason;
  const isOver = planned.planComplete && (await deps.passes.left()) === 0;
  const pass = isOver ? await deps.passes.finish(planned) : ((await deps.passes.latest()) ?? planned);
  return { pass, done: done.tally };
}

function counting(
  done: { tally: LifecycleTally },
  progress: LifecycleOptions['progress'],
): NonNullable<LifecycleOptions['progress']> {
  return (bucket, tally) => {
    done.tally = addTallies(done.tally, tally);
    progress?.(bucket, done.tally);
  };
}

/** Splits every bucket that has rules into slices. Buckets without rules are not in the list it reads. */
async function planPass(
  { buckets, passes }: LifecycleDeps,
  pass: LifecyclePass,
  options: LifecycleOptions,
): Promise<LifecyclePass> {
  const { stopping, bounds = defaultBounds } = options;
  while (!pass.planComplete && stopping?.() !== true) {
    const page = await buckets.documents.having('lifecycle', { after: pass.planned || undefined, limit: 100 });
    for (const { name, id } of page.buckets) {
      const found = await rulesOf(buckets, name, id);
      pass = await passes.plan(pass, {
        name,
        id,
        whole: found ? rangesOf(found.rules) : [],
        rules: found?.rules ?? [],
        leaveOut:
          found && hasBounds(options)
            ? { revision: boundsRevision(found.bucket), fewKeys: bounds.keysPerPage * bounds.pagesPerTurn }
            : undefined,
      });
    }
    if (!page.more) pass = await passes.planned(pass);
  }
  return pass;
}

/** Bounds are recorded for real days only: other days may have another length in the next pass. */
function hasBounds({ calendar, everyRange = false }: LifecycleOptions): boolean {
  return calendar === realDays && !everyRange;
}

function rangesOf(rules: readonly EnabledRule[]): readonly Pick<KeyRange, 'kind' | 'prefix'>[] {
  const aborting = rules.filter(({ abortDays }) => abortDays !== undefined);
  const others = rules.filter(
    ({ days, date, expiredMarkers, noncurrent }) =>
      [days, date, noncurrent].some((action) => action !== undefined) || expiredMarkers,
  );
  return [
    ...coveredPrefixes(others).map((prefix) => ({ kind: 'keys' as const, prefix })),
    ...coveredPrefixes(aborting).map((prefix) => ({ kind: 'uploads' as const, prefix })),
  ];
}

interface RuledBucket {
  readonly bucket: Bucket;
  readonly rules: readonly EnabledRule[];
}

/**
 * Returns the current bucket with its rules; undefined if it has none any more, or if the name now belongs to another
 * bucket.
 */
async function rulesOf(buckets: Buckets, name: string, id: string): Promise<RuledBucket | undefined> {
  const bucket = await buckets.find(name);
  if (bucket?.id !== id) return undefined;
  const document = await buckets.documents.of(bucket, 'lifecycle');
  return document && { bucket, rules: enabledRules(document) };
}

/** A worker: leases slices until none are left. */
async function runWorker(deps: LifecycleDeps, options: LifecycleOptions): Promise<void> {
  while (options.stopping?.() !== true) {
    const slice = await deps.passes.lease();
    if (slice === undefined) return;
    if (slice === 'busy') {
      await deps.clock.sleep(pollTime);
      continue;
    }
    try {
      await processSlice(deps, slice, options);
    } catch (error) {
      if (!(error instanceof SliceLost)) throw error;
    }
  }
}

/** The input for processing a page. */
interface Page {
  readonly bucket: Bucket;
  readonly rules: readonly EnabledRule[];
  readonly time: Time;
  /** Keys or uploads. */
  readonly limit: number;
}

/** The outcome of a page. `next` is the new cursor; undefined at the end of the slice. */
interface PageOutcome extends Processed {
  readonly next: string | undefined;
}

/** Processes a slice page by page, each under the bucket's current rules and versioning state. */
async function processSlice(deps: LifecycleDeps, slice: LifecycleSlice, options: LifecycleOptions): Promise<void> {
  const { bounds = defaultBounds } = options;
  for (let pages = 1; ; pages += 1) {
    const found = await rulesOf(deps.buckets, slice.bucket, slice.bucketId);
    const beganAt = deps.clock.now();
    const outcome = found && (await processPage(deps, slice, found, options));
    if (outcome) options.progress?.(slice.bucket, outcome.done);
    const bound = outcome && hasBounds(options) ? boundAfter(slice, found, outcome, beganAt, options) : undefined;
    if (outcome?.next === undefined) {
      return deps.passes.complete({ ...slice, bound, tally: addTallies(slice.tally, outcome?.done ?? nothingDone) });
    }
    slice = await deps.passes.advance(slice, { after: outcome.next, done: outcome.done, bound });
    if (options.stopping?.() === true) return deps.passes.release(slice);
    if (pages % bounds.pagesPerTurn === 0) slice = await splitIfNeeded(deps, slice, found!.bucket, bounds);
  }
}

/** Returns the bound of a slice after a page: of what the page left, and of whatever is written from now on. */
function boundAfter(
  slice: LifecycleSlice,
  { bucket, rules }: RuledBucket,
  { nothingDueBefore }: Processed,
  beganAt: number,
  { calendar }: LifecycleOptions,
): SliceBound {
  const revision = boundsRevision(bucket);
  const before = slice.bound ?? {
    revision,
    nothingDueBefore: slice.after === undefined ? nextDueOfNew(rules, bucket, slice, beganAt, calendar) : 0,
  };
  if (before.revision !== revision) return { revision, nothingDueBefore: 0 };
  return { revision, nothingDueBefore: Math.min(before.nothingDueBefore, nothingDueBefore) };
}

async function processPage(
  deps: LifecycleDeps,
  slice: LifecycleSlice,
  { bucket, rules }: RuledBucket,
  { calendar, bounds = defaultBounds }: LifecycleOptions,
): Promise<PageOutcome | undefined> {
  const page = { bucket, rules, time: { now: deps.clock.now(), calendar }, limit: bounds.keysPerPage };
  try {
    return slice.kind === 'keys' ? await processKeys(deps, slice, page) : await processUploads(deps, slice, page);
  } catch (error) {
    if (error instanceof S3Error && error.code === 'NoSuchBucket') return undefined;
    throw error;
  }
}

async function processKeys(
  { objects, observe }: LifecycleDeps,
  { prefix, from, after, until }: LifecycleSlice,
  { bucket, rules, time, limit }: Page,
): Promise<PageOutcome> {
  const start = after !== undefined ? { after } : from !== undefined ? { from } : {};
  // Every action is conditional on what was read, and bounds allow for what was not visible yet.
  const { entries, more } = await objects.scan(bucket, { prefix, limit, mayBeStale: true, ...start });
  const own = until === undefined ? entries : entries.filter(({ key }) => compareUtf8(key, until) < 0);
  const [first, last] = [own[0], own.at(-1)];
  if (first === undefined || last === undefined) return { ...nothingFound, next: undefined };
  const here = rules.filter((rule) => mayMatchBetween(rule, first.key, last.key));
  const processed = await tallied(own, ({ key, currentVersion }) =>
    applyToKey(objects, { bucket, key, currentVersion, rules: here }, time, observe),
  );
  return { ...processed, next: more && own.length === entries.length ? last.key : undefined };
}

async function processUploads(
  { uploads, observe }: LifecycleDeps,
  { prefix, after }: LifecycleSlice,
  { bucket, rules, time, limit }: Page,
): Promise<PageOutcome> {
  const page = await uploads.openPage(bucket, { prefix, after, limit, mayBeStale: true });
  const processed = await tallied(page.uploads, async (upload) => {
    if (!abortRule(rules, upload, time)) {
      return { done: nothingDone, nothingDueBefore: nextDueOfUpload(rules, upload, time.calendar) };
    }
    try {
      await uploads.abort(asService(bucket, upload.key), upload.id);
      observe?.({ bucket, key: upload.key, what: 'aborted' });
      return { done: { ...nothingDone, aborted: 1 }, nothingDueBefore: neverDue };
    } catch (error) {
      if (!(error instanceof S3Error) || error.code !== 'NoSuchUpload') throw error;
      return { done: { ...nothingDone, changed: 1 }, nothingDueBefore: neverDue };
    }
  });
  return { ...processed, next: page.next };
}

const nothingFound: Processed = { done: nothingDone, nothingDueBefore: neverDue };

/** Applies an action to each entry, several at once, and returns the sum of the tallies and the earliest of the times. */
async function tallied<Entry>(
  entries: readonly Entry[],
  apply: (entry: Entry) => Promise<Processed>,
): Promise<Processed> {
  let sum = nothingFound;
  const waiting = entries.values();
  const worker = async (): Promise<void> => {
    for (const entry of waiting) {
      const { done, nothingDueBefore } = await apply(entry);
      sum = {
        done: addTallies(sum.done, done),
        nothingDueBefore: Math.min(sum.nothingDueBefore, nothingDueBefore),
      };
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, entries.length) }, worker));
  return sum;
}

/**
 * Splits off the second half of what remains of a slice for other workers, while there are fewer slices than could be
 * worked on.
 */
async function splitIfNeeded(
  { objects, passes }: LifecycleDeps,
  slice: LifecycleSlice,
  bucket: Bucket,
  { enoughSlices }: LifecycleBounds,
): Promise<LifecycleSlice> {
  const { kind, prefix, after, until } = slice;
  if (kind !== 'keys' || after === undefined || (await passes.left()) >= enoughSlices) return slice;
  const end = await objects.lastKey(bucket, prefix, until);
  const middle = end === undefined ? undefined : keyBetween(after, end);
  return middle?.startsWith(prefix) === true ? passes.split(slice, middle) : slice;
}
