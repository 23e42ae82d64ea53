import type { ChecksumAlgorithm } from '../../checksums/algorithms.ts';
import { loadDigest, startDigest, type RunningDigest } from '../../checksums/running-digest.ts';
import type { Payload } from './payload.ts';

/** Returns stored bytes as a payload: measured like an upload, but with nothing to verify. */
export function measuredBytes(bytes: AsyncIterable<Uint8Array>, length: number, algorithm: ChecksumAlgorithm): Payload {
  const md5 = startDigest('MD5');
  let checksum: RunningDigest | undefined;
  let size = 0;
  return {
    length,
    bytes: (async function* () {
      await loadDigest(algorithm);
      checksum = startDigest(algorithm);
      for await (const chunk of bytes) {
        md5.update(chunk);
        checksum.update(chunk);
        size += chunk.byteLength;
        yield chunk;
      }
    })(),
    digests: () => {
      if (checksum === undefined) throw new Error('the bytes were not read');
      return { size, md5: md5.digest(), checksum: { algorithm, value: checksum.digest(), type: 'FULL_OBJECT' } };
    },
  };
}

/** Returns the bytes of an empty content. */
export async function* noBytes(): AsyncGenerator<Uint8Array> {
  // nothing
}
