import { EphemeralBlobStore } from '../../../shared/adapters/ephemeral/ephemeral-blob-store.ts';
import { EphemeralTable } from '../../../shared/adapters/ephemeral/ephemeral-table.ts';
import { AesSecrets, aesKeySize } from '../../../shared/adapters/system/aes-secrets.ts';
import { isFollowed } from '../../../shared/metadata/table/keys.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import type { Stores } from './embedded-service.ts';

/** What an ephemeral service says of itself wherever it can. */
export const ephemeralNotice = 'EPHEMERAL: everything is kept in memory, and gone when the service ends';

/** Stores in memory, under a key that is made for them alone. */
export function ephemeralStores(randomness: Randomness): Stores {
  return {
    secrets: new AesSecrets(randomness.bytes(aesKeySize)),
    table: new EphemeralTable({ isFollowed }),
    blobs: new EphemeralBlobStore(),
  };
}
