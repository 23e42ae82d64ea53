import type { XmlElement } from './reader.ts';
import type { XmlElements } from './writer.ts';

/** A checksum as documents show it: `<ChecksumCRC32>base64</ChecksumCRC32>`. */
export interface DocumentChecksum {
  /** `CRC32`, `CRC32C`, `CRC64NVME`, `SHA1`, `SHA256`. */
  readonly algorithm: string;
  readonly value: Uint8Array;
}

/** A checksum with its type, as objects have one: FULL_OBJECT or COMPOSITE. */
export interface TypedChecksum extends DocumentChecksum {
  readonly type: string;
  /** Parts of a COMPOSITE one, written behind the value as S3 does: `base64-3`. */
  readonly parts?: number | undefined;
}

const elementPrefix = 'Checksum';

/** `ChecksumX` alone, as parts have it. */
export function checksumElement(checksum: DocumentChecksum | undefined): XmlElements {
  if (checksum === undefined) return {};
  return { [elementPrefix + checksum.algorithm]: base64(checksum.value) };
}

/** `ChecksumX` and `ChecksumType`, as objects have them. */
export function checksumElements(checksum: TypedChecksum | undefined): XmlElements {
  if (checksum === undefined) return {};
  const suffix = checksum.type === 'COMPOSITE' && checksum.parts !== undefined ? `-${checksum.parts}` : '';
  return { [elementPrefix + checksum.algorithm]: base64(checksum.value) + suffix, ChecksumType: checksum.type };
}

/** Whether an element is a checksum, of whichever algorithm. */
export function isChecksum(element: XmlElement): boolean {
  return element.name.startsWith(elementPrefix) && element.name.length > elementPrefix.length;
}

/** Reads `<ChecksumX>`. Base64 that is not canonical is a fault of the document. */
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
