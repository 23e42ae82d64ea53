import { AccountRefusal } from '../../shared/access/account-names.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { Randomness } from '../../shared/ports/randomness.ts';
import { OperatorError } from '../../shared/errors/operator-error.ts';
import { openExistingData, type DataDirectory } from '../server/data-directory/data-directory.ts';

/** Dependencies of a command that works on a data directory only. The service may be running on it. */
export interface Deps extends DataDirectory {
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** Opens the data directory while `work` runs. @throws OperatorError for an S3Error or AccountRefusal of `work` */
export async function withDeps<Result>(data: string, work: (deps: Deps) => Promise<Result>): Promise<Result> {
  const opened = await openExistingData(data);
  try {
    return await work({ ...opened, clock: new SystemClock(), randomness: new CryptoRandomness() });
  } catch (error) {
    if (error instanceof S3Error) throw new OperatorError(`${error.code}: ${error.message}`);
    if (error instanceof AccountRefusal) throw new OperatorError(error.message);
    throw error;
  } finally {
    await Promise.all([opened.table.close(), opened.blobs.close()]);
  }
}
