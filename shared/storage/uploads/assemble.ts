import { createHash } from 'node:crypto';
import type { Checksum, ChecksumAlgorithm } from '../../checksums/algorithms.ts';
import { combineCrcs, type CrcAlgorithm } from '../../checksums/crc-combine.ts';
import { loadDigest, startDigest } from '../../checksums/running-digest.ts';
import { S3Error } from '../../errors/s3-error.ts';
import { EventLoopBudget } from '../../ports/event-loop.ts';
import type { NewUpload, Part } from './upload.ts';

/** A part as named in a CompleteMultipartUpload. */
export interface NamedPart {
  readonly partNumber: number;
  /** Without quotes. */
  readonly etag: string;
  readonly checksums: readonly { readonly algorithm: string; readonly value: Uint8Array }[];
}

/** The work, in steps, of finding a part among those of its number, and of combining its CRC with that of the parts before it. */
const stepsToPick = 4;
const stepsToCombine = 200;

/**
 * Returns the parts that a CompleteMultipartUpload names: for each number the newest with the same ETag and checksums.
 * @throws S3Error InvalidPartOrder, InvalidPart, EntityTooSmall (a part other than the last is below the minimum)
 */
export async function pickParts(
  named: readonly NamedPart[],
  uploaded: readonly Part[],
  minimumPartBytes: number,
  budget = new EventLoopBudget(),
): Promise<readonly Part[]> {
  if (named.some(({ partNumber }, at) => at > 0 && partNumber <= named[at - 1]!.partNumber)) {
    throw new S3Error('InvalidPartOrder');
  }
  const byNumber = new Map<number, Part[]>();
  for (const part of uploaded) {
    const others = byNumber.get(part.number);
    if (others) others.push(part);
    else byNumber.set(part.number, [part]);
  }
  await budget.spend(uploaded.length / 2);
  const picked = await budget.map(named, stepsToPick, (wanted) => {
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

/** Returns the MD5 of the parts' MD5s, with which the ETag of a multipart upload begins. */
export function combinedMd5(parts: readonly Part[]): Uint8Array {
  const hash = createHash('md5');
  for (const { md5 } of parts) hash.update(md5);
  return hash.digest();
}

/**
 * Combines the checksums of parts into that of the object, without reading its bytes. Returns undefined unless all parts have a
 * checksum of the same algorithm.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
 */
export async function combinedChecksum(
  parts: readonly Part[],
  upload: NewUpload['checksum'],
  budget = new EventLoopBudget(),
): Promise<Checksum | undefined> {
  const algorithm = upload?.algorithm ?? parts[0]?.checksum?.algorithm;
  if (algorithm === undefined || parts.some(({ checksum }) => checksum?.algorithm !== algorithm)) return undefined;
  const type = upload?.type ?? (algorithm === 'CRC64NVME' ? 'FULL_OBJECT' : 'COMPOSITE');
  const value =
    type === 'COMPOSITE'
      ? await composite(algorithm, parts)
      : await fullObject(algorithm as CrcAlgorithm, parts, budget);
  return { algorithm, type, value };
}

async function composite(algorithm: ChecksumAlgorithm, parts: readonly Part[]): Promise<Uint8Array> {
  await loadDigest(algorithm);
  const digest = startDigest(algorithm);
  for (const { checksum } of parts) digest.update(checksum!.value);
  return digest.digest();
}

async function fullObject(
  algorithm: CrcAlgorithm,
  parts: readonly Part[],
  budget: EventLoopBudget,
): Promise<Uint8Array> {
  const [first, ...rest] = parts;
  let sum = first!.checksum!.value;
  await budget.map(rest, stepsToCombine, ({ checksum, size }) => {
    sum = combineCrcs(algorithm, sum, checksum!.value, size);
  });
  return sum;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
