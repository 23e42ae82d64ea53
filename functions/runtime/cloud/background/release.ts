import { Buckets } from '../../../../shared/metadata/buckets/buckets.ts';
import { Manifests } from '../../../../shared/metadata/objects/manifests.ts';
import { ReleaseQueue } from '../../../../shared/metadata/removal/release-queue.ts';
import { Release } from '../../../../shared/metadata/removal/release.ts';
import { Uploads } from '../../../../shared/metadata/uploads/uploads.ts';
import type { CloudRooms } from './adapters.ts';

interface ReleaseRooms {
  readonly queue: ReleaseQueue;
  readonly release: Release;
  readonly uploads: Uploads;
}

const day = 24 * 60 * 60 * 1000;

/** The release of content, and the uploads it tidies up, over the adapters of the cloud. */
export function releaseRooms(rooms: CloudRooms): ReleaseRooms {
  const manifests = new Manifests(rooms);
  const uploads = new Uploads({ ...rooms, buckets: new Buckets(rooms), manifests });
  const grace = Number(rooms.setting('STILLAGE_RELEASE_GRACE_DAYS')) * day;
  return {
    queue: new ReleaseQueue({ ...rooms, uploads, grace }),
    release: new Release({ ...rooms, manifests, uploads }),
    uploads,
  };
}
