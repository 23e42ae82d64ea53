import { S3BlobStore } from '../../../../shared/adapters/cloud/s3-blob-store.ts';
import { backgroundHandler } from './background-handler.ts';
import { releaseRooms } from './release.ts';

/** Frees content whose grace is over. */
export const handler = backgroundHandler(
  'sweep-released',
  (rooms) => {
    const { release } = releaseRooms(rooms);
    return async () => ({ freed: await release.sweep() });
  },
  { blobs: S3BlobStore },
);
