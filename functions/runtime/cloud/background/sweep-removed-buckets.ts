import { Buckets } from '../../../../shared/metadata/buckets/buckets.ts';
import { Objects } from '../../../../shared/metadata/objects/objects.ts';
import { BucketPurge } from '../../../../shared/metadata/removal/bucket-purge.ts';
import { backgroundHandler } from './background-handler.ts';
import { releaseDeps } from './release.ts';

/** Purges removed buckets. */
export const handler = backgroundHandler('sweep-removed-buckets', (deps) => {
  const objects = new Objects({ ...deps, buckets: new Buckets(deps) });
  const bucketPurge = new BucketPurge({ ...deps, objects, uploads: releaseDeps(deps).uploads });
  return (_event: unknown, stopping) => bucketPurge.sweep(stopping).then(() => undefined);
});
