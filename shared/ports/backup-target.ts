/** A file of a target. */
export interface TargetFile {
  /** Words of `[A-Za-z0-9._-]`, separated by `/`. */
  readonly name: string;
  readonly size: number;
  /** Milliseconds since the epoch, by the target's own clock. */
  readonly writtenAt: number;
}

/**
 * The place of backups: whole files by name, none of which is larger than some 20 MiB. `test/contract/backup-target.ts` tests every adapter
 * against this contract.
 */
export interface BackupTarget {
  /** How an operator names it. */
  readonly name: string;
  /**
   * Writes a file, which is then there as a whole, or not at all. Resolves once it is durable.
   * @param options.ifAbsent leaves a file alone that is there already
   * @returns whether the file was written
   */
  put(name: string, bytes: Uint8Array, options?: { readonly ifAbsent?: true }): Promise<boolean>;
  /** Reads a file; undefined if there is none. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Lists the files whose names begin with a prefix, which ends with `/` or is empty, in no particular order. */
  list(prefix: string): AsyncIterable<TargetFile>;
  /** Removes files. Ignores those that do not exist. */
  remove(names: readonly string[]): Promise<void>;
}

/** The place of backups in an S3. */
export interface S3Place {
  readonly bucket: string;
  /** Empty, or ending with `/`. */
  readonly prefix: string;
  /** Undefined: AWS's own. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
}

/** The folder of files that are not whole yet, of targets that need one. A process that was killed leaves them. */
export const draftsFolder = 'drafts/';

/** The target cannot be used. The message is one line that says why. */
export class TargetFailed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TargetFailed';
  }
}
