import { compareUtf8 } from '../../../shared/ports/utf8-order.ts';
import { inParallel } from '../../../shared/storage/concurrency.ts';
import { NotCopied, type Destination, type HeldKey } from './destination.ts';
import { planKey } from './key-plan.ts';
import type { Ledger } from './ledger.ts';
import { sourceKeys, type Listed, type SourceKey, type SourceVersion } from './source-listing.ts';

/** The number of keys that are copied at the same time. */
const keysTogether = 16;

interface BucketCopy<Held> {
  readonly listed: Listed;
  readonly to: Destination<Held>;
  readonly ledger: Ledger;
  /** Removes what the source does not have. */
  readonly removes: boolean;
  /** Only tells what differs. */
  readonly isTrial: boolean;
}

/** A key of the source, or of the bucket that is copied to, or of both. */
interface Paired<Held> {
  readonly key: string;
  readonly source: readonly SourceVersion[];
  readonly held: HeldKey<Held> | undefined;
}

/**
 * Copies what a bucket lacks of one at a source. What is there already is the state of a run that was killed, and of one of yesterday: both
 * listings are compared, and nothing else is kept.
 */
export async function copyBucket<Held>(job: BucketCopy<Held>): Promise<void> {
  const { listed, to } = job;
  await wholly(paired(sourceKeys(listed), to.keys(listed.prefix)), (key) => copyKey(job, key));
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

async function copyKey<Held>(job: BucketCopy<Held>, { key, source, held }: Paired<Held>): Promise<void> {
  const { to, ledger, isTrial } = job;
  const present = (await held?.versions()) ?? [];
  const plan = planKey(source, present, to);
  ledger.same += plan.same;
  const at = (version?: string): { bucket: string; key: string; version: string | undefined } => ({
    ...{ bucket: to.bucket, key },
    version,
  });
  for (const { id } of plan.passedOver) ledger.note('missing', at(id), `not ${to.where}, where newer versions are`);
  const removed = new Set<Held>();
  for (const version of plan.extra) {
    const isRemoved = job.removes && !isTrial && (await to.remove(key, version)) === 'removed';
    if (isRemoved) {
      removed.add(version);
      ledger.removed += 1;
    } else {
      const locked = job.removes && !isTrial ? ', and locked' : '';
      ledger.note('extra', at(to.idOf(version)), `only ${to.where}${locked}`);
    }
  }
  if (plan.missing.length === 0) return;
  if (plan.isWrittenThere && !job.removes && !to.covers) {
    ledger.note('missing', at(), `written ${to.where} since: versions of the source are not put on top`);
    return;
  }
  let above = present.findLast((version) => !removed.has(version));
  for (const [place, version] of plan.missing.entries()) {
    if (isTrial) {
      ledger.note('missing', at(version.id), `not ${to.where}`);
      continue;
    }
    // Each attempt tells of them, and what is not copied lacks nothing.
    const losses = new Set<string>();
    try {
      above = await to.copy({ key, version, above, onLoss: (what) => void losses.add(what) });
      ledger.copied(version);
      for (const what of losses) ledger.note('changed', at(version.id), what);
    } catch (error) {
      if (!(error instanceof NotCopied)) throw error;
      ledger.note('missing', at(version.id), `not copied: ${error.message}`);
      if (error.isFinal) continue;
      // They would be on top of it for ever.
      const later = plan.missing.slice(place + 1);
      for (const { id } of later) ledger.note('missing', at(id), 'not copied, as an older version was not');
      return;
    }
  }
}

/** Merges two sequences of keys, each in order. */
async function* paired<Held>(
  source: AsyncGenerator<SourceKey>,
  held: AsyncGenerator<HeldKey<Held>>,
): AsyncGenerator<Paired<Held>> {
  let [from, to] = await Promise.all([source.next(), held.next()]);
  while (from.done !== true || to.done !== true) {
    const order = from.done === true ? 1 : to.done === true ? -1 : compareUtf8(from.value.key, to.value.key);
    const own = order <= 0 ? (from.value as SourceKey) : undefined;
    const other = order >= 0 ? (to.value as HeldKey<Held>) : undefined;
    yield { key: (own ?? other)!.key, source: own?.versions ?? [], held: other };
    if (order <= 0) from = await source.next();
    if (order >= 0) to = await held.next();
  }
}
