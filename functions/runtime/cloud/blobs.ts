import type { BlobStore } from '../../../shared/ports/blob-store.ts';

/** A blob store that lets go of its connections. */
export interface CloudBlobs extends BlobStore {
  close(): void;
}

/**
 * What makes the blob store of a process: `S3BlobStore`. A process that never touches a blob is given none, and so need not have the
 * client of S3 in its bundle, a quarter of what there is to load.
 */
export type CloudBlobsClass = new (options: { readonly bucket: string }) => CloudBlobs;

/** The blob store of such a process. */
export class NoBlobs implements CloudBlobs {
  write = refuse;
  read = refuse;
  remove = refuse;
  describe = refuse;
  check = refuse;

  // eslint-disable-next-line require-yield -- it is refused, as everything is
  async *list(): AsyncGenerator<never> {
    await refuse();
  }

  abandon(): void {
    // Nothing is kept.
  }

  close(): void {
    // Nothing is open.
  }
}

async function refuse(): Promise<never> {
  throw new Error('this process says that it needs no blobs, and was composed without any');
}
