import { createHash } from 'node:crypto';
import type { Checksum, ChecksumAlgorithm } from '../../checksums/algorithms.ts';
import { combineCrcs, type CrcAlgorithm } from '../../checksums/crc-combine.ts';
import { loadDigest, startDigest } from '../../checksums/running-digest.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { NewUpload, Part } from './upload.ts';

/** A part as CompleteMultipartUpload names it. */
export interface NamedPart {
  readonly partNumber: number;
  /** Without quotes. */
  readonly etag: string;
  readonly checksums: readonly { readonly algorithm: string; readonly value: Uint8Array }[];
}

/**
 * Picks the parts that a Complete names: of each number the newest whose ETag and checksums match.
 * @throws S3Error InvalidPartOrder, InvalidPart, EntityTooSmall (any but the last below the minimum)
 */
export function pickParts(
  named: readonly NamedPart[],
  uploaded: readonly Part[],
  minimumPartBytes: number,
): readonly Part[] {
  if (named.some(({ partNumber }, at) => at > 0 && partNumber <= named[at - 1]!.partNumber)) {
    throw new S3Error('InvalidPartOrder');
  }
  const byNumber = new Map<number, Part[]>();
  for (const part of uploaded) byNumber.set(part.number, [...(byNumber.get(part.number) ?? []), part]);
  const picked = named.map((wanted) => {
    const part = byNumber.get(wanted.partNumber)?.findLast((candidate) => fits(wanted, candidate));
    if (part) return part;
    throw new S3Error('InvalidPart', { details: { PartNumber: String(wanted.partNumber), ETag: wanted.etag } });
  });
  const small = picked.slice(0, -1).find(({ size }) => size < minimumPartBytes);
  if (small === undefined) return picked;
  throw new S3Error('EntityTooSmall', {
    details: {
      ProposedSize: String(small.size),
      MinSizeAllowed: String(minimumPartBytes),
      PartNumber: String(small.number),
      ETag: hex(small.md5),
    },
  });
}

function fits({ etag, checksums }: NamedPart, part: Part): boolean {
  if (etag !== hex(part.md5)) return false;
  const { checksum } = part;
  return checksums.every(
    ({ algorithm, value }) => checksum?.algorithm !== algorithm || Buffer.from(value).equals(checksum.value),
  );
}

/** What an ETag of an object in parts begins with: the MD5 of the parts' MD5s. */
export function combinedMd5(parts: readonly Part[]): Uint8Array {
  const hash = createHash('md5');
  for (const { md5 } of parts) hash.update(md5);
  return hash.digest();
}

/**
 * The checksum of the whole from those of its parts, without reading a byte. Undefined if the parts do not all have one of the
 * same algorithm.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
 */
export async function combinedChecksum(
  parts: readonly Part[],
  upload: NewUpload['checksum'],
): Promise<Checksum | undefined> {
  const algorithm = upload?.algorithm ?? parts[0]?.checksum?.algorithm;
  if (algorithm === undefined || parts.some(({ checksum }) => checksum?.algorithm !== algorithm)) return undefined;
  const type = upload?.type ?? (algorithm === 'CRC64NVME' ? 'FULL_OBJECT' : 'COMPOSITE');
  const value = type === 'COMPOSITE' ? await composite(algorithm, parts) : fullObject(algorithm as CrcAlgorithm, parts);
  return { algorithm, type, value };
}

async function composite(algorithm: ChecksumAlgorithm, parts: readonly Part[]): Promise<Uint8Array> {
  await loadDigest(algorithm);
  const digest = startDigest(algorithm);
  for (const { checksum } of parts) digest.update(checksum!.value);
  return digest.digest();
}

function fullObject(algorithm: CrcAlgorithm, parts: readonly Part[]): Uint8Array {
  const [first, ...rest] = parts;
  return rest.reduce(
    (sum, { checksum, size }) => combineCrcs(algorithm, sum, checksum!.value, size),
    first!.checksum!.value,
  );
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
