import { Manifests } from '../../../shared/metadata/objects/manifests.ts';
import { Release } from '../../../shared/metadata/removal/release.ts';
import { Uploads } from '../../../shared/metadata/uploads/uploads.ts';
import { cloudGrace } from '../release-grace.ts';
import type { CloudRooms } from './cloud-rooms.ts';

/** The release of content, and the uploads it tidies up, over the adapters of the cloud. */
export function releaseRooms(rooms: CloudRooms): { readonly release: Release; readonly uploads: Uploads } {
  const manifests = new Manifests(rooms);
  const uploads = new Uploads({ ...rooms, manifests });
  return { uploads, release: new Release({ ...rooms, manifests, uploads, grace: cloudGrace }) };
}
