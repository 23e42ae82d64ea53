import { S3BlobStore } from '../../../shared/adapters/cloud/s3/s3-blob-store.ts';
import { backgroundHandler } from './background-handler.ts';
import { releaseDeps } from './release.ts';

/** Frees released content after its grace period. */
export const handler = backgroundHandler(
  'sweep-released',
  (deps) => {
    const { release } = releaseDeps(deps);
    return (_event: unknown, stopping) => release.sweep({ stopping });
  },
  { blobs: S3BlobStore },
);
