import { mostHeld } from '../../shared/adapters/cloud/s3/blob-parts.ts';
import { S3BlobStore } from '../../shared/adapters/cloud/s3/s3-blob-store.ts';
import { BudgetedBlobs } from '../../shared/protocol/bodies/capacity/budgeted-blobs.ts';
import { ByteBudget } from '../../shared/protocol/bodies/capacity/byte-budget.ts';
import type { Log } from '../../shared/telemetry/log.ts';
import type { CloudBlobs, CloudBlobsClass } from './blobs.ts';

/** Milliseconds between two log lines about the use of the budget. */
const reportInterval = 60_000;

/** The upload memory of a server of the byte lane, which holds parts of blobs until S3 has them. */
export class UploadBudget {
  readonly #budget: ByteBudget;

  /** @param bytes the upload memory */
  constructor(bytes: number) {
    this.#budget = new ByteBudget(bytes);
  }

  /** Returns the constructor of a blob store that stays within the budget. Requests beyond it get SlowDown. */
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

  /** Starts logging the use of the budget, once a minute. @returns a function that stops it */
  report(log: Pick<Log, 'note'>): () => void {
    const tell = (): void => log.note('upload memory', { uploadMemoryPercent: this.#budget.peakPercent() });
    const timer = setInterval(tell, reportInterval);
    timer.unref();
    return () => clearInterval(timer);
  }
}
