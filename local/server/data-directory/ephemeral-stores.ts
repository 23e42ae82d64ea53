import { EphemeralBlobStore } from '../../../shared/adapters/ephemeral/ephemeral-blob-store.ts';
import { EphemeralTable } from '../../../shared/adapters/ephemeral/ephemeral-table.ts';
import { AesSecrets, aesKeySize } from '../../../shared/adapters/system/aes-secrets.ts';
import { isFollowed } from '../../../shared/storage/table/keys/keys.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import type { Stores } from '../embedded-service.ts';

/** The notice of an ephemeral service in its log and on standard error. */
export const ephemeralNotice = 'EPHEMERAL: all data is in memory and lost when the service exits';

/** Returns stores in memory, with a random key for secrets. */
export function ephemeralStores(randomness: Randomness): Stores {
  return {
    secrets: new AesSecrets(randomness.bytes(aesKeySize)),
    table: new EphemeralTable({ isFollowed }),
    blobs: new EphemeralBlobStore(),
  };
}
