import { LockedVersion } from '../../../shared/storage/versions/object-lock.ts';
import { compareUtf8 } from '../../../shared/ports/utf8-order.ts';
import { inParallel } from '../../../shared/storage/concurrency.ts';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { versionIdOf, type CurrentVersion, type Version } from '../../../shared/storage/versions/versions.ts';
import { checkKey } from '../../../shared/http/address.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { importVersion, NotCopied, type VersionImportDeps } from './import-version.ts';
import { planKey } from './key-plan.ts';
import type { Ledger } from './ledger.ts';
import { sourceKeys, type Listed, type SourceKey, type SourceVersion } from './source-listing.ts';

/** The number of keys that are copied at the same time. */
const keysTogether = 16;
const scanPage = 1000;

export interface BucketImport extends Omit<VersionImportDeps, 'onLoss'> {
  readonly listed: Listed;
  readonly to: Bucket;
  readonly ledger: Ledger;
  /** Removes what the source does not have. */
  readonly removes: boolean;
  /** Only tells what differs. */
  readonly isTrial: boolean;
}

/** A key of the source, or of the bucket here, or of both. */
interface Paired {
  readonly key: string;
  readonly source: readonly SourceVersion[];
  readonly here: CurrentVersion | undefined;
}

/**
 * Copies what a bucket here lacks of one at a source. What is there already is the state of an import that was killed, and of one that ran
 * yesterday: both listings are compared, and nothing else is kept.
 */
export async function importObjects(job: BucketImport): Promise<void> {
  await wholly(paired(sourceKeys(job.listed), keysHere(job)), (key) => importKey(job, key));
}

/** Works on many keys at the same time. After a failure none is begun, and those that were are ended, as the stores are closed then. */
async function wholly<Key>(keys: AsyncIterable<Key>, each: (key: Key) => Promise<void>): Promise<void> {
  let failure: { readonly error: unknown } | undefined;
  const caught = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      failure ??= { error };
    }
  };
  async function* untilFailed(): AsyncGenerator<Key> {
    const iterator = keys[Symbol.asyncIterator]();
    for (let next: Key[] = []; failure === undefined;) {
      await caught(async () => {
        const step = await iterator.next();
        next = step.done === true ? [] : [step.value];
      });
      if (next.length === 0) return;
      yield* next;
    }
  }
  await inParallel(untilFailed(), keysTogether, (key) => caught(() => each(key)));
  if (failure !== undefined) throw failure.error;
}

async function importKey(job: BucketImport, { key, source, here: current }: Paired): Promise<void> {
  const { services, to, ledger, listed } = job;
  const here =
    current === undefined
      ? []
      : (await services.objects.versions(to, key, current, Number.MAX_SAFE_INTEGER)).toReversed();
  const plan = planKey(source, here);
  ledger.same += plan.same;
  const at = (
    version?: string,
  ): { readonly bucket: string; readonly key: string; readonly version: string | undefined } => ({
    ...{ bucket: to.name, key },
    version,
  });
  for (const { id } of plan.passedOver) ledger.note('missing', at(id), 'not here, where newer versions are');
  const removes = job.removes && !job.isTrial && plan.extra.length > 0;
  if (removes) await removeExtra(job, key, plan.extra);
  else for (const version of plan.extra) ledger.note('extra', at(versionIdOf(version)), 'only here');
  if (plan.missing.length === 0) return;
  if (plan.isWrittenHere && !job.removes) {
    ledger.note('missing', at(), 'written here since: versions of the source are not put on top');
    return;
  }
  let above: Version | undefined = removes ? await services.objects.find(to, key) : here.at(-1);
  for (const version of plan.missing) {
    if (job.isTrial) {
      ledger.note('missing', at(version.id), 'not here');
      continue;
    }
    const onLoss = (what: string): void => ledger.note('changed', at(version.id), what);
    try {
      checkKey(key, services.settings.limits.keyBytes);
      above = await importVersion({ ...job, onLoss }, { from: listed.bucket, key, version, to, above });
      ledger.copied(version);
    } catch (error) {
      const why = reasonOf(error);
      ledger.note('missing', at(version.id), `not copied: ${why.message}`);
      if (!why.isFinal) return;
    }
  }
}

/** @throws the error, unless it is about the version alone */
function reasonOf(error: unknown): Pick<NotCopied, 'message' | 'isFinal'> {
  if (error instanceof NotCopied) return error;
  if (error instanceof LockedVersion) return { message: 'the version that it replaces is locked', isFinal: false };
  const isOfKey = error instanceof S3Error && ['KeyTooLongError', 'InvalidArgument', 'InvalidURI'].includes(error.code);
  if (isOfKey) return { message: `${error.code}: ${error.message}`, isFinal: false };
  throw error;
}

async function removeExtra(job: BucketImport, key: string, extra: readonly Version[]): Promise<void> {
  const { services, to, ledger } = job;
  for (const version of extra) {
    const id = versionIdOf(version);
    try {
      await services.objects.remove({ by: 'operator', authorisation: asService(to, key, id) });
      ledger.removed += 1;
    } catch (error) {
      if (!(error instanceof LockedVersion)) throw error;
      ledger.note('extra', { bucket: to.name, key, version: id }, 'only here, and locked');
    }
  }
}

async function* keysHere({ services, to, listed: { prefix } }: BucketImport): AsyncGenerator<Paired> {
  for (let after: string | undefined, more = true; more;) {
    const page = await services.objects.scan(to, { prefix, limit: scanPage, ...(after !== undefined && { after }) });
    for (const { key, currentVersion } of page.entries) yield { key, source: [], here: currentVersion };
    after = page.entries.at(-1)?.key;
    more = page.more && after !== undefined;
  }
}

/** Merges two sequences of keys, each in order. */
async function* paired(source: AsyncGenerator<SourceKey>, here: AsyncGenerator<Paired>): AsyncGenerator<Paired> {
  let [there, own] = await Promise.all([source.next(), here.next()]);
  while (there.done !== true || own.done !== true) {
    const order = there.done === true ? 1 : own.done === true ? -1 : compareUtf8(there.value.key, own.value.key);
    yield {
      key: order <= 0 ? (there.value as SourceKey).key : (own.value as Paired).key,
      source: order <= 0 ? (there.value as SourceKey).versions : [],
      here: order >= 0 ? (own.value as Paired).here : undefined,
    };
    if (order <= 0) there = await source.next();
    if (order >= 0) own = await here.next();
  }
}
