import { Buckets } from '../../../shared/storage/buckets/buckets.ts';
import { Manifests } from '../../../shared/storage/objects/manifests.ts';
import { ReleaseQueue } from '../../../shared/storage/removal/release-queue.ts';
import { Release } from '../../../shared/storage/removal/release.ts';
import { Uploads } from '../../../shared/storage/uploads/uploads.ts';
import { day } from '../../../shared/ports/durations.ts';
import type { CloudDeps } from './adapters.ts';

interface ReleaseDeps {
  readonly queue: ReleaseQueue;
  readonly release: Release;
  readonly uploads: Uploads;
}

/** Returns the release of content and the uploads that it cleans up, with cloud adapters. */
export function releaseDeps(deps: CloudDeps): ReleaseDeps {
  const manifests = new Manifests(deps);
  const uploads = new Uploads({ ...deps, buckets: new Buckets(deps), manifests });
  const grace = Number(deps.setting('STILLAGE_RELEASE_GRACE_DAYS')) * day;
  return {
    queue: new ReleaseQueue({ ...deps, uploads, grace }),
    release: new Release({ ...deps, manifests, uploads }),
    uploads,
  };
}
