import { createHash } from 'node:crypto';
import type { BytesCheck } from '../../ports/blob-store.ts';
import type { Version } from '../objects/versions.ts';

/**
 * Returns a check of a blob without checksums, which an earlier version wrote: against the MD5 of the version that refers to it, if that
 * is the MD5 of these bytes. For parts and encrypted objects it is not, and all bytes pass.
 */
export function formerBlobCheck(version: Version | undefined): BytesCheck & { readonly isComparable: boolean } {
  const md5 = version?.encryption === undefined && version?.content?.kind === 'blob' ? version.md5 : undefined;
  if (md5 === undefined) return { isComparable: false, update: () => undefined, matches: () => true };
  const digest = createHash('md5');
  return {
    isComparable: true,
    update: (bytes) => void digest.update(bytes),
    matches: () => digest.digest().equals(md5),
  };
}
