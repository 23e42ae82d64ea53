import type { Key } from '../../support/clients/signer.ts';
import type { Filling, Found } from './cases.ts';

/** Where a generator sends its requests, and how it signs them; without a key it does not. */
export interface Address {
  readonly url: string;
  readonly key: Key | undefined;
}

/** An order to a generator. It replies once to each: to `load` as soon as the load runs, to `stop` once it has ended. */
export type Order =
  | ({
      readonly do: 'fill';
      readonly server: Address;
      /** Whether the server has buckets. */
      readonly isStore: boolean;
      readonly found: readonly Found[];
    } & Filling)
  | ({
      readonly do: 'measure';
      readonly server: Address;
      readonly name: string;
      readonly round: number;
      /** How long to measure, and to send requests before. */
      readonly seconds: number;
      readonly warmUp: number;
      /** The number of requests to send instead. */
      readonly requests?: number;
      /** The processes of the server. */
      readonly pids: readonly number[];
    } & Filling)
  | ({ readonly do: 'load'; readonly server: Address; readonly name: string; readonly round: number } & Filling)
  | { readonly do: 'stop' };

export type Reply =
  | { readonly kind: 'done' }
  | { readonly kind: 'measured'; readonly measurement: Measurement }
  | { readonly kind: 'loading' }
  | { readonly kind: 'loaded'; readonly made: string }
  | { readonly kind: 'failed'; readonly message: string };

/** One measurement of one case. */
export interface Measurement {
  /** Requests that succeeded. */
  readonly requests: number;
  readonly errors: number;
  readonly firstError?: string;
  /** Up to the last response. */
  readonly seconds: number;
  /** Milliseconds of one request. */
  readonly p50?: number;
  readonly p99?: number;
  readonly longest?: number;
  /** Milliseconds of processor time that the server used for all of them. */
  readonly processor?: number;
  /** Bytes of memory that the server has, without mapped files. */
  readonly memory?: number;
  /** The share of a processor that the generator used. */
  readonly generatorShare: number;
}
