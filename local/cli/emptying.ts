import { createInterface } from 'node:readline/promises';
import type { Option } from 'commander';
import { sparingly } from './progress.ts';
import { count } from '../../shared/command-line/report.ts';
import { option } from '../../shared/command-line/option.ts';
import { sizeText } from '../../shared/command-line/sizes.ts';
import { OperatorError, UsageError } from '../../shared/errors/operator-error.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { inParallel } from '../../shared/storage/concurrency.ts';
import { pages } from '../../shared/storage/table/pages.ts';
import type { Bucket } from '../../shared/storage/buckets/bucket.ts';
import { noCounters } from '../../shared/storage/quotas/usage-rows.ts';
import { LockedVersion } from '../../shared/storage/versions/object-lock.ts';
import { asService } from '../../shared/storage/version-changes/service-authorisation.ts';
import {
  argument,
  command,
  optional,
  Refusal,
  type AdministrationDeps,
  type Ask,
  type ResultOf,
} from '../../functions/admin/command.ts';
import { result } from '../../functions/admin/results.ts';

/*
 * Commands by which a bucket is emptied in batches, each a call of its own: a call ends soon enough for the function of a deployment, and
 * what an interrupted run has removed stays removed.
 */

/** Buckets per page. Two items are read for each. */
const bucketPage = 200;
/** Keys that a call counts, and versions and uploads that it removes. */
const countPage = 1000;
const removePage = 200;
/** Keys, or uploads, that are removed at a time. */
const concurrency = 16;

const { text, time, count: whole, bytes } = result;

/** Returns a page of the buckets of a project, with their sizes. */
export const listBuckets = command(
  'bucket list',
  'read',
  { project: argument.text, after: optional(argument.text) },
  result.object({
    buckets: result.list(
      result.object({ bucket: text, project: text, created: time, objects: whole, bytes, bytesBesides: bytes }),
    ),
    next: result.optional(text),
  }),
  async ({ accounts, buckets, usage }, { project, after }) => {
    const { id, email } = await accounts.project(project);
    const found = await buckets.ownedBy(id, { limit: bucketPage, ...(after !== undefined && { after }) });
    const listed = await Promise.all(
      found.buckets.map(async ({ name, created }) => {
        const bucket = await buckets.find(name);
        if (bucket === undefined) return;
        const { objects, bytesOfVersions: bytes, bytesBesides } = await usage.of(bucket.id);
        return { bucket: name, project: email, created, objects, bytes, bytesBesides };
      }),
    );
    return {
      buckets: listed.filter((one) => one !== undefined),
      ...(found.more && { next: found.buckets.at(-1)!.name }),
    };
  },
);

export type ListedBucket = ResultOf<typeof listBuckets>['buckets'][number];

/** The bucket by its id as well, so that another one of this name, made meanwhile, is not emptied. */
const named = { bucket: argument.text, id: argument.word } as const;

export const emptyingCommands = {
  /** Counts what a page of keys holds. The first call tells the id, the bytes and the open uploads as well. */
  contents: command(
    'bucket contents',
    'read',
    { bucket: argument.text, after: optional(argument.text) },
    result.object({
      ...{ bucket: text, id: text, objects: whole, versions: whole, uploads: result.optional(whole) },
      held: result.optional(result.object({ objects: whole, bytesOfVersions: bytes, bytesBesides: bytes })),
      next: result.optional(text),
    }),
    async ({ buckets, objects, uploads, usage }, { bucket: name, after }) => {
      const bucket = await buckets.load(name);
      const { entries, more } = await objects.scan(bucket, {
        ...{ prefix: '', limit: countPage },
        ...(after !== undefined && { after }),
      });
      const current = entries.filter(({ currentVersion }) => !currentVersion.marker);
      const versions = entries.reduce((sum, { currentVersion }) => sum + 1 + currentVersion.olderCount, 0);
      return {
        ...{ bucket: bucket.name, id: bucket.id, objects: current.length, versions },
        ...(after === undefined && {
          uploads: await countUploads(uploads, bucket),
          held: await usage.of(bucket.id),
        }),
        ...(more && { next: entries.at(-1)!.key }),
      };
    },
  ),
  /**
   * Removes some of the versions after a key, or else of the open uploads. `done` once nothing was left but what is locked. `locked` are the
   * keys that stay, of which each is counted once.
   */
  empty: command(
    'bucket empty',
    'manage',
    { ...named, after: optional(argument.text) },
    result.object({
      ...{ versions: whole, uploads: whole, locked: whole },
      done: result.flag,
      next: result.optional(text),
    }),
    async (deps, { bucket: name, id, after }) => {
      const bucket = await bucketOf(deps, name, id);
      const { versions, locked, next } = await removeVersions(deps, bucket, after);
      const here = after === undefined ? {} : { next: after };
      if (versions > 0) return { versions, uploads: 0, locked: 0, done: false, ...here };
      if (next !== undefined) return { versions, uploads: 0, locked, done: false, next };
      const uploads = await abortUploads(deps, bucket);
      return { versions, uploads, ...(uploads === 0 ? { locked, done: true } : { locked: 0, done: false, ...here }) };
    },
  ),
  /** Removes an empty bucket. Its documents, counters and alarms go with the bucket purge. */
  remove: command(
    'bucket remove',
    'manage',
    { bucket: argument.text, id: optional(argument.word) },
    result.nothing,
    async (deps, { bucket, id }) => {
      await deps.buckets.remove(asService(await bucketOf(deps, bucket, id)));
    },
  ),
};

/** @throws S3Error NoSuchBucket, Refusal */
async function bucketOf({ buckets }: AdministrationDeps, name: string, id: string | undefined): Promise<Bucket> {
  const bucket = await buckets.load(name);
  if (id === undefined || bucket.id === id) return bucket;
  throw new Refusal(`${name} is another bucket now, which was made meanwhile`);
}

async function countUploads(uploads: AdministrationDeps['uploads'], bucket: Bucket): Promise<number> {
  let count = 0;
  const open = pages((after) => uploads.openPage(bucket, { prefix: '', after, limit: countPage }));
  for await (const page of open) count += page.uploads.length;
  return count;
}

/**
 * Removes whole keys, and of a key with very many versions some. A key stays from its newest locked version on.
 * @returns how many versions were removed, how many keys are locked, and the key after which there are others
 */
async function removeVersions(
  { objects }: AdministrationDeps,
  bucket: Bucket,
  after: string | undefined,
): Promise<{ readonly versions: number; readonly locked: number; readonly next: string | undefined }> {
  const { entries, more } = await objects.scan(bucket, {
    ...{ prefix: '', limit: removePage },
    ...(after !== undefined && { after }),
  });
  let removed = 0;
  let locked = 0;
  await inParallel(entries, concurrency, async ({ key }) => {
    const authorisation = asService(bucket, key);
    for (let more = true; more && removed < removePage;) {
      const gone = await objects.remove({ by: 'operator', authorisation }).catch((error: unknown) => {
        if (!(error instanceof LockedVersion)) throw error;
      });
      if (gone === undefined) locked += 1;
      if (gone?.version !== undefined) removed += 1;
      more = gone?.currentVersion !== undefined;
    }
  });
  return { versions: removed, locked, next: more ? entries.at(-1)!.key : undefined };
}

async function abortUploads({ uploads }: AdministrationDeps, bucket: Bucket): Promise<number> {
  const page = await uploads.openPage(bucket, { prefix: '', after: undefined, limit: removePage });
  await inParallel(page.uploads, concurrency, async ({ key, id }) => {
    await uploads.abort(asService(bucket, key), id).catch((error: unknown) => {
      // It was completed or aborted meanwhile.
      if (!(error instanceof S3Error && error.code === 'NoSuchUpload')) throw error;
    });
  });
  return page.uploads.length;
}

/** What a bucket, or several, holds. */
export interface Contents {
  readonly objects: number;
  /** Noncurrent ones and delete markers included. */
  readonly versions: number;
  readonly uploads: number;
  /** Of versions. */
  readonly bytes: number;
  readonly bytesBesides: number;
}

export interface ConfirmedOptions {
  readonly yes?: true;
}

/** How often a bucket is emptied again that clients write to meanwhile. */
const attempts = 5;

/** Returns the option that takes the place of typing the name. */
export function yesOption(): Option {
  return option('--yes', 'do not ask; required without a terminal');
}

/** Refuses a command that would have to ask somebody who is not there, before anything is read. @throws UsageError */
export function refuseUnasked({ yes }: ConfirmedOptions): void {
  if (yes || process.stdin.isTTY) return;
  throw new UsageError('--yes is needed where nobody can be asked: standard input is no terminal');
}

/** Shows on standard error what will be gone, and asks for the name. @throws OperatorError unless it is typed */
export async function confirm(name: string, what: string, { yes }: ConfirmedOptions): Promise<void> {
  process.stderr.write(`${what}\n`);
  if (yes) return;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const typed = await terminal.question(`Type ${name} to remove this for ever: `).finally(() => terminal.close());
  if (typed.trim() !== name) throw new OperatorError('nothing was removed: another name was typed');
}

/** `3 objects (5 versions, 1 open upload, 12 bytes of versions, 400 bytes besides)` */
export function contentsText({ objects, versions, uploads, bytes, bytesBesides }: Contents): string {
  const held = `${sizeText(bytes)} of versions, ${sizeText(bytesBesides)} besides`;
  return `${count(objects, 'object')} (${count(versions, 'version')}, ${count(uploads, 'open upload')}, ${held})`;
}

/** Counts what a bucket holds. Bytes are those of the counters. */
export async function contentsOf(ask: Ask, bucket: string): Promise<Contents & { readonly id: string }> {
  const { next, held, ...first } = await ask(emptyingCommands.contents, { bucket });
  const total = { ...first, uploads: first.uploads ?? 0 };
  const tell = sparingly(() => `${bucket}: ${count(total.objects, 'object')} counted`);
  for (let after = next; after !== undefined;) {
    const page = await ask(emptyingCommands.contents, { bucket, after });
    total.objects += page.objects;
    total.versions += page.versions;
    after = page.next;
    tell();
  }
  const { id, objects, versions, uploads } = total;
  const { bytesOfVersions: bytes, bytesBesides } = held ?? noCounters;
  return { id, objects, versions, uploads, bytes, bytesBesides };
}

/** What was removed from a bucket, and the keys of which versions are locked. */
interface Emptied {
  readonly versions: number;
  readonly uploads: number;
  readonly locked: number;
}

/**
 * Removes all versions but those that are locked, and all uploads, batch by batch. Run again after an interruption, it goes on with what is
 * left.
 */
export async function emptyBucket(ask: Ask, bucket: string, id: string): Promise<Emptied> {
  const gone = { versions: 0, uploads: 0, locked: 0 };
  const tell = sparingly(() => `${bucket}: ${count(gone.versions, 'version')} removed`);
  let after: string | undefined;
  for (let isDone = false; !isDone;) {
    const page = await ask(emptyingCommands.empty, { bucket, id, ...(after !== undefined && { after }) });
    gone.versions += page.versions;
    gone.uploads += page.uploads;
    gone.locked += page.locked;
    after = page.next;
    isDone = page.done;
    tell();
  }
  return gone;
}

/** Empties a bucket and removes it. @throws OperatorError if clients keep writing to it, or if it holds what is locked */
export async function emptyAndRemove(
  ask: Ask,
  bucket: string,
  id: string,
): Promise<{ versions: number; uploads: number }> {
  const gone = { versions: 0, uploads: 0 };
  for (let left = attempts; ; left -= 1) {
    const { versions, uploads, locked } = await emptyBucket(ask, bucket, id);
    gone.versions += versions;
    gone.uploads += uploads;
    if (locked > 0) throw new OperatorError(`${bucket} stays: ${lockedText(locked)}`);
    try {
      await ask(emptyingCommands.remove, { bucket, id });
      return gone;
    } catch (error) {
      if (!(error instanceof OperatorError && error.message.startsWith('BucketNotEmpty'))) throw error;
      if (left === 1) throw new OperatorError(`${bucket} is being written to: suspend its project, and run this again`);
    }
  }
}

/** `1 key has versions under a retention period or a legal hold` */
export function lockedText(locked: number): string {
  return `${count(locked, 'key')} ${locked === 1 ? 'has' : 'have'} versions under a retention period or a legal hold`;
}

/** Returns the buckets of a project. */
export async function bucketsOf(ask: Ask, project: string): Promise<readonly ListedBucket[]> {
  const listed: ListedBucket[] = [];
  for await (const { buckets } of pages((after) => ask(listBuckets, { project, after }))) listed.push(...buckets);
  return listed;
}
