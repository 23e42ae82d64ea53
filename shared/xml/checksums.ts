import type { XmlElement } from './reader.ts';
import type { XmlElements } from './writer.ts';

/** A checksum as shown in documents: `<ChecksumCRC32>base64</ChecksumCRC32>`. */
export interface DocumentChecksum {
  /** `CRC32`, `CRC32C`, `CRC64NVME`, `SHA1`, `SHA256`. */
  readonly algorithm: string;
  readonly value: Uint8Array;
}

/** The checksum of an object, with its type: FULL_OBJECT or COMPOSITE. */
export interface TypedChecksum extends DocumentChecksum {
  readonly type: string;
  /** The number of parts of a COMPOSITE checksum, appended to the value as S3 does: `base64-3`. */
  readonly parts?: number | undefined;
}

const elementPrefix = 'Checksum';

/** Returns the `ChecksumX` element of a part. */
export function checksumElement(checksum: DocumentChecksum | undefined): XmlElements {
  if (checksum === undefined) return {};
  return { [elementPrefix + checksum.algorithm]: base64(checksum.value) };
}

/** Returns the `ChecksumX` and `ChecksumType` elements of an object. */
export function checksumElements(checksum: TypedChecksum | undefined): XmlElements {
  if (checksum === undefined) return {};
  const suffix = checksum.type === 'COMPOSITE' && checksum.parts !== undefined ? `-${checksum.parts}` : '';
  return { [elementPrefix + checksum.algorithm]: base64(checksum.value) + suffix, ChecksumType: checksum.type };
}

/** Tells whether an element is a checksum of any algorithm. */
export function isChecksum(element: XmlElement): boolean {
  return element.name.startsWith(elementPrefix) && element.name.length > elementPrefix.length;
}

/** Reads `<ChecksumX>`. Base64 that is not canonical is a schema error. */
export function readChecksum(element: XmlElement): DocumentChecksum {
  return { algorithm: element.name.slice(elementPrefix.length), value: element.parsed(decodeBase64) };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function decodeBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return text !== '' && bytes.toString('base64') === text ? bytes : undefined;
}
