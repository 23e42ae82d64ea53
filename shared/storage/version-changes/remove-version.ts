import { S3Error } from '../../errors/s3-error.ts';
import type { Change, Expectation } from '../../ports/key-value-table.ts';
import type { Bucket } from '../buckets/bucket.ts';
import { conflict, optimistically, tokenIs, type Lost } from '../table/optimistic-write.ts';
import { conflicted, live, lostBy, type KeyCommits } from './key-commits.ts';
import { deleteMarker, type Guard, type NewVersion, type PutOptions } from './new-version.ts';
import type { ObjectAuthorisation } from './object-authorisation.ts';
import { OutcomeUnknown, SeenNoMore, SourceGone } from './outcomes.ts';
import type {
  LifecycleRemoval,
  OperatorRemoval,
  PurgedKey,
  Removal,
  Removed,
  RenamedAway,
  RequestedRemoval,
  TakenBack,
} from './removal.ts';
import { currentVersionKey, maxReads, unversioned, type Found, type VersionChain } from './version-chain.ts';
import { LockedVersion, mayBeLocked, type Override } from '../versions/object-lock.ts';
import type { CurrentVersion, Unplaced, Version } from '../versions/versions.ts';

type Put = (authorisation: ObjectAuthorisation, fresh: NewVersion, options: PutOptions) => Promise<CurrentVersion>;

/**
 * Removals of versions. No other file removes one, which `test/architecture` checks. Each states what it may do with one that is
 * locked: only a request may override anything, and a writer that undoes its own commit.
 */
export class Removals {
  readonly #commits: KeyCommits;
  readonly #put: Put;

  /** @param put puts a delete marker */
  constructor(commits: KeyCommits, put: Put) {
    this.#commits = commits;
    this.#put = put;
  }

  /** As `Objects.remove`. */
  async remove(removal: Removal): Promise<Removed> {
    switch (removal.by) {
      case 'request':
        return removal.authorisation.versionId === undefined ? this.#delete(removal) : this.#removeRequested(removal);
      case 'lifecycle':
        return removal.expires === 'object' ? this.#expire(removal) : this.#removeAsSeen(removal);
      case 'operator':
        return this.#removeAsOperator(removal);
      case 'writer':
        return this.#takeBack(removal);
      case 'purge':
        return this.#purge(removal);
    }
  }

  /** As `Objects.renamedAway`. */
  async renamedAway({ bucket, key, authorisation, source }: RenamedAway): Promise<readonly Change[]> {
    const chain = this.#commits.chain(bucket.id, key);
    const currentVersion = await chain.currentVersion();
    if (currentVersion?.token !== source.token) throw new SourceGone();
    const vanishes = bucket.versioning !== 'on' && !currentVersion.named && currentVersion.olderCount === 0;
    const unplacedMarker: Unplaced = { ...deleteMarker(key), tagCount: 0, owner: source.owner };
    const marker = this.#commits.version(bucket, unplacedMarker, currentVersion);
    const commit = vanishes
      ? await chain.remove(currentVersion, currentVersion, 'nothing')
      : await chain.put(currentVersion, marker);
    if (commit === undefined) throw new SourceGone();
    const renamed = authorisation.key;
    const record = await this.#commits.recorded(
      bucket,
      authorisation.origin,
      vanishes
        ? { key, change: 'removed', version: currentVersion, renamed }
        : { key, change: 'put', version: marker, renamed },
    );
    return [...commit.changes, ...record];
  }

  /** DELETE without a version id. */
  async #delete(removal: RequestedRemoval): Promise<Removed> {
    const { authorisation, owner, guard, sparing } = removal;
    const bucket = await this.#commits.buckets.readyFor(authorisation.bucket);
    const isRemoved =
      bucket.versioning === 'off' &&
      (await this.#commits.inTurn(bucket, authorisation.key, () => this.#deleteUnversioned(removal)));
    if (isRemoved) return {};
    // If versioning is suspended, the marker replaces the null version, which is then gone permanently.
    const replaces = bucket.versioning !== 'on' && sparing === 'foreign';
    const options = { guard: replaces ? sparingForeign(guard) : guard, rightsCount: 'at the commit' } as const;
    return { currentVersion: await this.#put(authorisation, { ...deleteMarker(authorisation.key), owner }, options) };
  }

  /** @returns false if the bucket has become versioned meanwhile */
  async #deleteUnversioned({ authorisation, guard, sparing }: RequestedRemoval): Promise<boolean> {
    const { key, dependsOnVersion } = authorisation;
    const { buckets } = this.#commits;
    let { bucket } = authorisation;
    const chain = this.#commits.chain(bucket.id, key);
    const check = sparing === 'foreign' ? sparingForeign(guard) : guard;
    return optimistically(
      async (attempt) => {
        bucket = await buckets.readyFor(bucket);
        if (bucket.versioning !== 'off') return false;
        // Without a guard the first attempt reads nothing: the condition prevents what must not be removed.
        const isRecorded = this.#commits.isRecorded(bucket);
        const looks = guard !== undefined || dependsOnVersion || isRecorded || (attempt > 0 && sparing !== undefined);
        const currentVersion = looks ? await chain.currentVersion() : undefined;
        if (looks && currentVersion === undefined) bucket = await buckets.standing(bucket);
        if (bucket.versioning !== 'off') return false;
        const caller = await (looks
          ? authorisation.confirmVersion(bucket, currentVersion)
          : authorisation.confirm(bucket));
        if (authorisation.dependsOnVersion && !looks) return conflict;
        if (looks) check?.(live(currentVersion));
        if (looks && currentVersion === undefined) return true;
        if (currentVersion && mayBeLocked(currentVersion)) throw new LockedVersion();
        // What is recorded is what was removed, and nothing is if another request was faster.
        const dependsOnCurrent = currentVersion && (guard !== undefined || dependsOnVersion || isRecorded);
        const expect = dependsOnCurrent
          ? tokenIs(currentVersion.token)
          : absentOr(sparing === 'foreign' ? own : unversioned);
        const change: Change = { key: currentVersionKey(bucket.id, key), delete: true, expect };
        const record = currentVersion
          ? await this.#commits.recorded(bucket, authorisation.origin, {
              key,
              change: 'removed',
              version: currentVersion,
            })
          : [];
        const outcome = await this.#commits.write(bucket, [change, ...record], { caller });
        if (outcome === 'written') return true;
        if (outcome === 'unknown') throw new OutcomeUnknown();
        bucket = await this.#commits.again(bucket, attempt);
        return lostBy(outcome);
      },
      (attempts) => conflicted(guard, attempts),
    );
  }

  /** DELETE with a version id. */
  async #removeRequested({ authorisation, guard, override = 'nothing' }: RequestedRemoval): Promise<Removed> {
    const { bucket, key, versionId } = authorisation;
    const find = (chain: VersionChain): Promise<Found | undefined> => chain.find(versionId!);
    return this.#commits.inTurn(bucket, key, () =>
      this.#removeFound(bucket, key, find, { authorisation, guard, override }),
    );
  }

  async #removeAsOperator({ authorisation }: OperatorRemoval): Promise<Removed> {
    const { bucket, key, versionId } = authorisation;
    const override = 'nothing';
    const find = (chain: VersionChain): Promise<Found | undefined> =>
      versionId === undefined ? chain.findCurrent() : chain.find(versionId);
    const remove = () => this.#removeFound(bucket, key, find, { authorisation, override });
    return this.#commits.inTurn(bucket, key, remove);
  }

  async #takeBack({ bucket, key, instance }: TakenBack): Promise<Removed> {
    return this.#removeFound(bucket, key, (chain) => chain.findInstance(instance), { override: 'own' });
  }

  /** @param by.authorisation undefined: the process undoes its own commit */
  async #removeFound(
    bucket: Bucket,
    key: string,
    find: (chain: VersionChain) => Promise<Found | undefined>,
    {
      authorisation,
      guard,
      override,
    }: { authorisation?: ObjectAuthorisation; guard?: Guard | undefined; override: Override | 'own' },
  ): Promise<Removed> {
    const { buckets } = this.#commits;
    const chain = this.#commits.chain(bucket.id, key);
    let lost: Version | undefined;
    return optimistically(
      async (attempt) => {
        const found = await find(chain);
        if (lost !== undefined && found?.version.instance !== lost.instance) {
          // Either this request has removed it, or another one has replaced it. Removing what is there now could be a second removal.
          if (found !== undefined) throw new OutcomeUnknown();
          return { version: lost };
        }
        if (authorisation) bucket = await (found ? buckets.readyFor(bucket) : buckets.standing(bucket));
        const caller = await authorisation?.confirmVersion(bucket, found?.version).catch((error: unknown) => {
          throw lost === undefined ? error : new OutcomeUnknown(error);
        });
        guard?.(live(found?.version));
        if (found === undefined) return {};
        const commit = await chain.remove(found.currentVersion, found.version, override);
        let how: Lost = conflict;
        if (commit) {
          const change = { key, change: 'removed', version: found.version } as const;
          const record = authorisation && (await this.#commits.recorded(bucket, authorisation.origin, change));
          const outcome = await (caller === undefined
            ? this.#commits.writeAnyway(commit.changes)
            : this.#commits.write(bucket, [...commit.changes, ...(record ?? [])], { caller }));
          if (outcome === 'written') return { version: found.version, currentVersion: commit.currentVersion };
          if (outcome === 'unknown') lost = found.version;
          else how = lostBy(outcome);
        }
        bucket = await this.#commits.again(bucket, attempt);
        return how;
      },
      (attempts) => conflicted(guard, attempts),
    );
  }

  async #expire({ authorisation, seen }: LifecycleRemoval): Promise<Removed> {
    const guard: Guard = (current) => {
      if (current?.token !== seen.token) throw new SeenNoMore();
    };
    return this.#delete({ by: 'request', authorisation, owner: authorisation.bucket.project, guard });
  }

  async #removeAsSeen({ authorisation, seen, version }: LifecycleRemoval & { expires: 'version' }): Promise<Removed> {
    const chain = this.#commits.chain(authorisation.bucket.id, authorisation.key);
    const commit = await chain.remove(seen, version, 'nothing');
    if (commit === undefined) throw new SeenNoMore();
    const { bucket, key, origin } = authorisation;
    const record = await this.#commits.recorded(bucket, origin, { key, change: 'removed', version });
    const outcome = await this.#commits.writeAnyway([...commit.changes, ...record]);
    if (outcome === 'unknown') throw new OutcomeUnknown();
    if (outcome === 'conflict') throw new SeenNoMore();
    return { version, currentVersion: commit.currentVersion };
  }

  async #purge({ bucketId, key }: PurgedKey): Promise<Removed> {
    const chain = this.#commits.chain(bucketId, key);
    let currentVersion = await chain.currentVersion();
    // A damaged chain has no commit, nor has a locked version. Its key stays for a scrub to find, and does not prevent the removal of others. After any other
    // outcome than `written`, the current version tells what is left.
    for (let futile = 0; currentVersion !== undefined && futile < maxReads;) {
      const commit = await chain.remove(currentVersion, currentVersion, 'nothing').catch(unlessLocked);
      const outcome = commit && (await this.#commits.writeAnyway(commit.changes));
      if (outcome !== 'written') futile += 1;
      currentVersion = await chain.currentVersion();
    }
    return { currentVersion };
  }
}

/** For what continues with others if a version is locked. */
function unlessLocked(error: unknown): undefined {
  if (!(error instanceof LockedVersion)) throw error;
}

/** Returns a guard that refuses to remove permanently an object of another project than the bucket's. */
function sparingForeign(guard: Guard | undefined): Guard {
  return (current) => {
    if (current?.foreign && !current.named) throw new S3Error('AccessDenied');
    guard?.(current);
  };
}

function absentOr(of: readonly Expectation[]): Expectation {
  return { is: 'any', of: [{ is: 'absent' }, { is: 'all', of }] };
}

/** An object of an unversioned bucket, owned by the bucket's project. */
const own: readonly Expectation[] = [...unversioned, { is: 'missing', attribute: 'f' }];
