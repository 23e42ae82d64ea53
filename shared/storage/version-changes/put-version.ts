import { noSuchBucket, type Bucket } from '../buckets/bucket.ts';
import { conflict, optimistically, type Lost } from '../table/optimistic-write.ts';
import { conflicted, live, lostBy, type KeyCommits } from './key-commits.ts';
import type { CommitExtras, NewVersion, PutOptions } from './new-version.ts';
import type { ObjectAuthorisation } from './object-authorisation.ts';
import { OutcomeUnknown } from './outcomes.ts';
import type { TakenBack } from './removal.ts';
import type { VersionChain } from './version-chain.ts';
import type { CurrentVersion, Unplaced } from '../versions/versions.ts';

/** Puts of versions. Each makes a version current. */
export class Puts {
  readonly #commits: KeyCommits;
  readonly #takeBack: (removal: TakenBack) => Promise<unknown>;

  /** @param takeBack removes a version whose bucket turned out to be gone */
  constructor(commits: KeyCommits, takeBack: (removal: TakenBack) => Promise<unknown>) {
    this.#commits = commits;
    this.#takeBack = takeBack;
  }

  /** As `Objects.put`. */
  async put(authorisation: ObjectAuthorisation, fresh: NewVersion, options: PutOptions): Promise<CurrentVersion> {
    const { bucket, key } = authorisation;
    const placed = await this.#commits.place(key, fresh);
    const currentVersion = await this.#commits.inTurn(bucket, key, () => this.#commit(authorisation, placed, options));
    if (await this.#stands(bucket, key, currentVersion)) return currentVersion;
    throw noSuchBucket(bucket.name);
  }

  async #commit(
    authorisation: ObjectAuthorisation,
    fresh: Unplaced,
    { guard, extras, rightsCount, renamedFrom: renamed }: PutOptions,
  ): Promise<CurrentVersion> {
    const { key } = authorisation;
    let { bucket } = authorisation;
    const chain = this.#commits.chain(bucket.id, key);
    return optimistically(
      async (attempt) => {
        bucket = await this.#commits.buckets.readyFor(bucket);
        // Without conditions, and if no noncurrent version can exist, nothing need be read: the commit's own condition suffices.
        const mayBeBlind = attempt === 0 && bucket.versioning !== 'on' && guard === undefined && extras === undefined;
        const blind = mayBeBlind && (rightsCount === undefined || !authorisation.dependsOnVersion);
        const before = blind ? undefined : await chain.currentVersion();
        const caller =
          rightsCount && (await (blind ? authorisation.confirm(bucket) : authorisation.confirmVersion(bucket, before)));
        if (rightsCount && blind && authorisation.dependsOnVersion) return conflict;
        if (guard && !rightsCount) await authorisation.confirmCompared(bucket, before);
        guard?.(live(before));
        const retention = await this.#commits.retentionOf(bucket, fresh);
        const version = this.#commits.version(bucket, { ...fresh, retention }, before);
        const commit = blind
          ? chain.blindPut(version)
          : await chain.put(before, version, fresh.imported && fresh.lastModified);
        let lost: Lost = conflict;
        if (commit?.currentVersion) {
          const { changes, conditions } = (await extras?.(commit.currentVersion, before, bucket)) ?? alone;
          const recheck = this.#commits.recheck(bucket, key, fresh);
          const change = { key, change: 'put', version: commit.currentVersion, renamed } as const;
          const record = await this.#commits.recorded(bucket, authorisation.origin, change);
          const all = [...commit.changes, ...changes, ...recheck, ...record];
          const outcome = await this.#commits.write(bucket, all, { conditions, caller });
          if (outcome === 'written') return commit.currentVersion;
          if (outcome === 'unknown') return await ifCommitted(chain, commit.currentVersion);
          lost = lostBy(outcome);
        }
        bucket = await this.#commits.again(bucket, attempt);
        return lost;
      },
      (attempts) => conflicted(guard, attempts),
    );
  }

  /**
   * Tells whether the bucket still exists after a commit. If not, removes the version, so that the previous one is current again.
   * @throws OutcomeUnknown for any failure, since the commit has happened
   */
  async #stands(bucket: Bucket, key: string, { instance }: CurrentVersion): Promise<boolean> {
    try {
      if (await this.#commits.buckets.standsAfterCommit(bucket)) return true;
      await this.#takeBack({ by: 'writer', bucket, key, instance });
      return false;
    } catch (error) {
      throw new OutcomeUnknown(error);
    }
  }
}

/** Returns the version of a commit whose response was lost, if it exists. @throws OutcomeUnknown if not, as it may still be committed */
async function ifCommitted(chain: VersionChain, currentVersion: CurrentVersion): Promise<CurrentVersion> {
  const found = await chain.findInstance(currentVersion.instance).catch((error: unknown) => {
    throw new OutcomeUnknown(error);
  });
  if (found === undefined) throw new OutcomeUnknown();
  return currentVersion;
}

const alone: CommitExtras = { changes: [], conditions: [] };
