import type { S3Address, S3Endpoint } from '../../../shared/ports/s3-endpoint.ts';
import type { Services } from '../../../shared/protocol/operation.ts';
import type { ByteRate } from './byte-rate.ts';
import type { Ledger } from './ledger.ts';
import type { MovingDeps } from './moving-service.ts';

/** What is copied between this service and another S3, and how. */
export interface Move {
  readonly deps: MovingDeps;
  readonly services: Services;
  readonly other: S3Endpoint;
  /** Which bucket of the other S3, or all of them. */
  readonly address: S3Address;
  /** Whose buckets are meant here. */
  readonly project: string | undefined;
  /** The name of the bucket here, if it is another. */
  readonly bucketHere: string | undefined;
  readonly removes: boolean;
  readonly isTrial: boolean;
  readonly acls: boolean;
  /** Whether settings of buckets are copied. */
  readonly settings: boolean;
  readonly rate: ByteRate;
  readonly ledger: Ledger;
}
