import { S3Error, type PlainErrorCode } from '../../../shared/errors/s3-error.ts';
import type { Grammar } from '../inputs.ts';

/** A parser of client input, or of stored data. */
export interface Parser extends Grammar {
  /**
   * Parses an input. If there is an encoder, or another parser of the same syntax, expects that both agree.
   * @throws an error that {@link refuses} accepts, for input that it refuses
   */
  read(text: string): unknown;
  /** Whether it may throw this; unless given, an S3 error below 500, or NotImplemented. */
  refuses?(error: unknown): boolean;
}

/** Reads in several ways, each of which may refuse. */
export function outcomesOf(read: readonly (() => unknown)[]): unknown {
  return read.map((one) => {
    try {
      return one();
    } catch (error) {
      if (isRefusal(error)) return error.code;
      throw error;
    }
  });
}

/** Whether an error is one that clients get for bad input, or for a feature of S3 that the service lacks. */
export function isRefusal(error: unknown): error is S3Error & { readonly code: PlainErrorCode } {
  return error instanceof S3Error && (error.status < 500 || error.code === 'NotImplemented');
}

/** The bytes that latin1 characters stand for. */
export const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
