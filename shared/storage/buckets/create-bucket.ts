import { S3Error } from '../../errors/s3-error.ts';
import type { Attributes } from '../../ports/key-value-table.ts';
import { numberOf } from '../table/attribute-values.ts';
import { bucketId, timedId } from '../table/keys/ids.ts';
import { itemKey } from '../table/keys/keys.ts';
import { conflict } from '../table/optimistic-write.ts';
import type { Authorisation } from './authorisation.ts';
import type { BucketChanges } from './bucket-changes.ts';
import { encodeSettings, type ObjectLockSettings, type ObjectOwnership } from './bucket-settings.ts';
import { prepareForLocks } from './lock-bucket.ts';
import type { DocumentKind } from './bucket.ts';

/** The initial documents and settings of a new bucket. */
export interface BucketBeginning {
  readonly documents?: Readonly<Partial<Record<DocumentKind, Attributes>>> | undefined;
  readonly objectOwnership?: ObjectOwnership | undefined;
  /** Versioning is enabled with it. */
  readonly objectLock?: ObjectLockSettings | undefined;
  /** The LocationConstraint of the request. */
  readonly location?: string | undefined;
}

/** Creates a bucket: implements `Buckets.create`. */
export async function createBucket(
  changes: BucketChanges,
  authorisation: Authorisation,
  name: string,
  project: string,
  limit: number,
  { documents = {}, objectOwnership, objectLock, location }: BucketBeginning,
): Promise<'created' | 'owned'> {
  const { table, clock, randomness, reads } = changes;
  return changes.attempt(async () => {
    const existing = await reads.find(name);
    const caller = await authorisation.confirmCaller();
    if (existing) {
      if (existing.project === project) return 'owned';
      throw new S3Error('BucketAlreadyExists', { details: { BucketName: name } });
    }
    const count = await table.get(itemKey.bucketCount(project));
    if (numberOf(count?.['count']) >= limit) throw new S3Error('TooManyBuckets');
    if (objectLock) await prepareForLocks(changes);
    const now = clock.now();
    const id = bucketId(1, randomness);
    const kinds = Object.keys(documents) as DocumentKind[];
    const revisions = kinds.map((kind) => [kind, timedId(now, randomness)] as const);
    const { outcome } = await table.write(
      [
        {
          key: itemKey.bucket(name),
          put: {
            id,
            project,
            created: now,
            versioning: objectLock ? 'on' : 'off',
            r: changes.token(),
            ...(revisions.length > 0 && { docs: Object.fromEntries(revisions) }),
            ...(location !== undefined && { loc: location }),
            ...encodeSettings({ objectOwnership, objectLock }),
          },
          expect: { is: 'absent' },
        },
        ...revisions.map(([kind, revision]) => ({
          key: itemKey.bucketDocument(id, kind, revision),
          put: documents[kind]!,
        })),
        { key: itemKey.ownedBucket(project, name), put: { bucketId: id, created: now } },
        { key: itemKey.bucketName(id), put: { name, project } },
        changes.countChange(project, count, +1),
      ],
      reads.ifFree(caller),
    );
    return outcome === 'written' ? 'created' : conflict;
  });
}
