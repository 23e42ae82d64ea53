import { S3Error } from '../../../shared/errors/s3-error.ts';
import type { Amount } from '../../../shared/storage/amount.ts';
import type { LimitedBucket, Quotas, Reservation } from '../../../shared/storage/quotas/quotas.ts';

const silence = 'a quota may be exceeded, and a worker that may hold a part of it does not answer';

/**
 * The quotas of a process with workers. A refused reservation is repeated once every worker has reported its finished requests, so that
 * no answered request counts against the next one. If a worker does not answer, it is not known whether the quota is exceeded.
 */
export class SettledQuotas implements Quotas {
  readonly #quotas: Quotas;
  readonly #settle: () => Promise<boolean>;

  /** @param settle resolves once all notices that workers had sent before the call are handled; with false if one does not answer */
  constructor(quotas: Quotas, settle: () => Promise<boolean>) {
    this.#quotas = quotas;
    this.#settle = settle;
  }

  async reserve(bucket: LimitedBucket, growth: Amount): Promise<Reservation> {
    const reservation = await this.#settled(() => this.#quotas.reserve(bucket, growth));
    return {
      add: (more) => this.#settled(() => reservation.add(more)),
      release: () => reservation.release(),
    };
  }

  async #settled<Result>(reserve: () => Promise<Result>): Promise<Result> {
    try {
      return await reserve();
    } catch (error) {
      if (!(error instanceof S3Error)) throw error;
      if (await this.#settle()) return reserve();
      return reserve().catch((cause: unknown) => {
        throw cause instanceof S3Error ? new S3Error('SlowDown', { cause: new Error(silence) }) : cause;
      });
    }
  }
}
