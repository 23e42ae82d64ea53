import { mostHeld } from '../../../shared/adapters/cloud/blob-parts.ts';
import { S3BlobStore } from '../../../shared/adapters/cloud/s3-blob-store.ts';
import { BudgetedBlobs } from '../../../shared/protocol/bodies/budgeted-blobs.ts';
import { ByteBudget } from '../../../shared/protocol/bodies/byte-budget.ts';
import type { Log } from '../telemetry/log.ts';
import type { CloudBlobs, CloudBlobsClass } from './blobs.ts';

/** How often the log tells how much of the budget was taken, in milliseconds. */
const reportInterval = 60_000;

/** The memory that a server of the byte lane has for uploads: parts of blobs wait in it until S3 has them. */
export class UploadBudget {
  readonly #budget: ByteBudget;

  /** @param bytes of memory */
  constructor(bytes: number) {
    this.#budget = new ByteBudget(bytes);
  }

  /** Makes the blob store of a process that keeps within the budget: what is more is answered SlowDown. */
  get blobs(): CloudBlobsClass {
    const limit = { budget: this.#budget, weigh: mostHeld };
    return class extends BudgetedBlobs implements CloudBlobs {
      readonly #store: S3BlobStore;

      constructor({ bucket }: { readonly bucket: string }) {
        const store = new S3BlobStore({ bucket });
        super(store, limit);
        this.#store = store;
      }

      close(): void {
        this.#store.close();
      }
    };
  }

  /** Tells the log about its use, a line a minute. @returns what ends that */
  report(log: Pick<Log, 'note'>): () => void {
    const tell = (): void => log.note('upload memory', { uploadMemoryPercent: this.#budget.peakPercent() });
    const timer = setInterval(tell, reportInterval);
    timer.unref();
    return () => clearInterval(timer);
  }
}
