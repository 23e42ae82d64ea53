import { DynamoDbTable } from '../../../shared/adapters/cloud/dynamodb/dynamodb-table.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../shared/adapters/system/system-clock.ts';
import type { BlobStore } from '../../../shared/ports/blob-store.ts';
import type { Clock } from '../../../shared/ports/clock.ts';
import type { KeyValueTable } from '../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import { NoBlobs, type CloudBlobsClass } from '../blobs.ts';
import { cloudLog, type Log } from '../../../shared/telemetry/log.ts';

/** The adapters of every background function. */
export interface CloudDeps {
  readonly table: KeyValueTable;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  /** Returns a setting from the environment of the function. @throws Error that names a missing one */
  readonly setting: (name: string) => string;
}

/**
 * Returns the adapters for the environment of a function. No service is called before first use.
 * @param Blobs undefined: the function needs no blobs
 */
export function cloudDeps(
  environment: Readonly<Record<string, string | undefined>>,
  Blobs: CloudBlobsClass | undefined,
): CloudDeps {
  const setting = (name: string): string => {
    const value = environment[name];
    if (!value) throw new Error(`the environment variable ${name} is missing`);
    return value;
  };
  const log = cloudLog(process.stdout);
  return {
    table: new DynamoDbTable({
      tableName: setting('STILLAGE_TABLE'),
      callTimeout: Number(environment['STILLAGE_TABLE_TIMEOUT']) || undefined,
      telemetry: log,
    }),
    blobs: Blobs ? new Blobs({ bucket: setting('STILLAGE_BLOB_BUCKET') }) : new NoBlobs(),
    clock: new SystemClock(),
    randomness: new CryptoRandomness(),
    log,
    setting,
  };
}
