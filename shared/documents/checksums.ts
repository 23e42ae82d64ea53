import type { XmlElement } from './element.ts';
import type { Field } from './schema.ts';
import { tag } from './text.ts';

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

const prefix = 'Checksum';
const isChecksum = (name: string): boolean => name.startsWith(prefix) && name.length > prefix.length;

/** Reads `<ChecksumX>`. Base64 that is not canonical is a schema error. */
function readChecksum(element: XmlElement): DocumentChecksum {
  const { text } = element;
  const value = decodeBase64(text);
  if (value === undefined) throw element.fault(`${element.name} has a malformed value`);
  return { algorithm: element.name.slice(prefix.length), value };
}

const writeChecksum = ({ algorithm, value }: DocumentChecksum, suffix = ''): string =>
  tag(prefix + algorithm, base64(value) + suffix);

/** The checksums of any algorithms. */
export const checksums: Field<readonly DocumentChecksum[]> = {
  name: `${prefix}…`,
  accepts: isChecksum,
  read: (parent) => {
    const found: DocumentChecksum[] = [];
    for (const { name } of parent.children) if (isChecksum(name)) found.push(readChecksum(parent.one(name)));
    return found;
  },
  write: (values) => values.map((value) => writeChecksum(value)).join(''),
};

/** The `ChecksumX` element of a part in responses, if it has one. */
export const checksum: Field<DocumentChecksum | undefined, 'undefined'> = {
  name: `${prefix}…`,
  accepts: isChecksum,
  read: (parent) => checksums.read(parent)[0],
  write: (value) => (value === undefined ? '' : writeChecksum(value)),
};

/** The `ChecksumX` and `ChecksumType` elements of an object in responses. */
export const typedChecksum: Field<TypedChecksum | undefined, 'undefined'> = {
  name: `${prefix}…`,
  accepts: isChecksum,
  read: () => undefined,
  write: (value) => {
    if (value === undefined) return '';
    const suffix = value.type === 'COMPOSITE' && value.parts !== undefined ? `-${value.parts}` : '';
    return writeChecksum(value, suffix) + tag(`${prefix}Type`, value.type);
  },
};

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

/** Canonical Base64: the bits that stand for nothing are 0. */
const canonical = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?$/;

function decodeBase64(text: string): Uint8Array | undefined {
  if (text === '' || !canonical.test(text)) return undefined;
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
