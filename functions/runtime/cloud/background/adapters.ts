import { DynamoDbTable } from '../../../../shared/adapters/cloud/dynamodb-table.ts';
import { CryptoRandomness } from '../../../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../../../shared/adapters/system/system-clock.ts';
import type { BlobStore } from '../../../../shared/ports/blob-store.ts';
import type { Clock } from '../../../../shared/ports/clock.ts';
import type { KeyValueTable } from '../../../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../../../shared/ports/randomness.ts';
import { NoBlobs, type CloudBlobsClass } from '../blobs.ts';
import { Log } from '../../telemetry/log.ts';

/** What every function in the background is made of. */
export interface CloudDeps {
  readonly table: KeyValueTable;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  /** @throws Error that names a setting which is missing in the environment of the function */
  readonly setting: (name: string) => string;
}

/**
 * The adapters of a function, as its environment tells. Nothing is called before it is used.
 * @param Blobs undefined: the function needs none
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
  const log = new Log(process.stdout);
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
