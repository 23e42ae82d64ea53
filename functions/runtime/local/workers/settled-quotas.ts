import { S3Error } from '../../../../shared/errors/s3-error.ts';
import type { Amount } from '../../../../shared/metadata/amount.ts';
import type { LimitedBucket, Quotas, Reservation } from '../../../../shared/metadata/quotas/quotas.ts';

/**
 * The quotas of a process with workers. A refused reservation is repeated once every worker has reported its finished requests, so that
 * no answered request counts against the next one.
 */
export class SettledQuotas implements Quotas {
  readonly #quotas: Quotas;
  readonly #settle: () => Promise<void>;

  /** @param settle resolves once all notices that workers had sent before the call are handled */
  constructor(quotas: Quotas, settle: () => Promise<void>) {
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
      await this.#settle();
      return reserve();
    }
  }
}
