import type { NewVersion } from '../../shared/storage/version-changes/new-version.ts';
import { noObjectAttributes, type ObjectAttributes } from '../../shared/storage/versions/object-attributes.ts';

/** An object of no bytes, as it is put where only its name counts. */
export function emptyObject(objectAttributes: ObjectAttributes = noObjectAttributes): NewVersion {
  return {
    marker: false,
    size: 0,
    md5: Buffer.alloc(16),
    content: undefined,
    owner: '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
    contentType: 'application/octet-stream',
    checksum: undefined,
    encryption: undefined,
    objectAttributes,
  };
}
