import { RequestRefused, type S3Endpoint, type S3Request } from '../../../shared/ports/s3-endpoint.ts';
import { mayPassLater } from './source-version.ts';

const mebibyte = 1024 * 1024;
/** Sizes of all parts but the last that programs use, if the source does not tell. */
const usual = [5, 8, 10, 15, 16, 20, 25, 32, 50, 64, 100, 128, 256, 512].map((size) => size * mebibyte);

/** How an object may be divided into parts. */
export interface Division {
  readonly sizes: readonly number[];
  /** The source has told each: its ETag must be that of these parts. */
  readonly isTold: boolean;
}

/** Asks what the parts of an object are, which was uploaded in so many. */
export class PartSizes {
  readonly #endpoint: S3Endpoint;
  readonly #of: Pick<S3Request, 'bucket' | 'key' | 'query'>;
  readonly #size: number;
  readonly #count: number;

  constructor(endpoint: S3Endpoint, of: Pick<S3Request, 'bucket' | 'key' | 'query'>, size: number, count: number) {
    this.#endpoint = endpoint;
    this.#of = of;
    this.#size = size;
    this.#count = count;
  }

  /** Returns the likeliest division, for which at most one part is asked for. */
  async likely(): Promise<Division | undefined> {
    if (this.#count === 1) return { sizes: [this.#size], isTold: true };
    const first = await this.#part(1);
    return this.#even(first) ?? this.#even(usual.find((size) => this.#even(size) !== undefined));
  }

  /** Returns the division as the source tells it, part by part; undefined if it does not. */
  async told(): Promise<Division | undefined> {
    const sizes: number[] = [];
    for (let number = 1; number <= this.#count; number += 1) {
      const size = await this.#part(number);
      if (size === undefined) return undefined;
      sizes.push(size);
    }
    return sizes.reduce((sum, size) => sum + size, 0) === this.#size ? { sizes, isTold: true } : undefined;
  }

  #even(size: number | undefined): Division | undefined {
    const last = size === undefined ? 0 : this.#size - size * (this.#count - 1);
    if (size === undefined || last <= 0 || last > size) return undefined;
    return { sizes: [...Array.from({ length: this.#count - 1 }, () => size), last], isTold: false };
  }

  async #part(number: number): Promise<number | undefined> {
    const query = { ...this.#of.query, partNumber: String(number) };
    try {
      const { fields } = await this.#endpoint.send({ ...this.#of, method: 'HEAD', query });
      const isPart = fields['x-amz-mp-parts-count'] === String(this.#count);
      const size = Number(fields['content-length']);
      return isPart && Number.isSafeInteger(size) ? size : undefined;
    } catch (error) {
      // What a busy source does not tell now is not unknown: without it, the ETag could not be checked.
      if (error instanceof RequestRefused && !mayPassLater(error)) return undefined;
      throw error;
    }
  }
}
