import type { BlobStore } from '../../shared/ports/blob-store.ts';

/** A blob store that can close its connections. */
export interface CloudBlobs extends BlobStore {
  close(): void;
}

/**
 * The constructor of a process's blob store: `S3BlobStore`. A process that uses no blobs gets none, so that its bundle needs no S3
 * client, a quarter of the code to load.
 */
export type CloudBlobsClass = new (options: { readonly bucket: string }) => CloudBlobs;

/** The blob store of a process that uses no blobs: every operation throws. */
export class NoBlobs implements CloudBlobs {
  write = refuse;
  read = refuse;
  remove = refuse;
  describe = refuse;
  check = refuse;

  // eslint-disable-next-line require-yield -- always throws
  async *list(): AsyncGenerator<never> {
    await refuse();
  }

  abandon(): void {
    // There is nothing to remove.
  }

  close(): void {
    // There is nothing to close.
  }
}

async function refuse(): Promise<never> {
  throw new Error('this process was composed without blobs, as none of its operations declares that it needs them');
}
