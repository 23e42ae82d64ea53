import { createHash } from 'node:crypto';
import { checksumAlgorithms, type Checksum } from '../../../shared/checksums/algorithms.ts';
import { loadDigest, startDigest, type RunningDigest } from '../../../shared/checksums/running-digest.ts';
import type { BlobOwner } from '../../../shared/ports/blob-store.ts';
import type { BlobWriter } from '../../../shared/storage/objects/contents.ts';
import type { ManifestPart } from '../../../shared/storage/objects/manifests.ts';
import { Stretches } from './stretches.ts';

/** Bytes of an object that were stored, part by part. */
export interface CopiedContent {
  readonly parts: readonly ManifestPart[];
  /** Of all bytes. */
  readonly md5: Buffer;
  /** Of the MD5s of the parts. */
  readonly combinedMd5: Buffer;
  /** As the source states it, if it is that of the bytes. */
  readonly checksum: Checksum | undefined;
}

/** The bytes are not what the source says of them. */
export class Untrue extends Error {}

/** The checksum that a source states of an object. */
type Stated = Checksum;

/** Returns the checksum in the headers of a response. */
export function statedChecksum(fields: Readonly<Record<string, string>>): Stated | undefined {
  for (const algorithm of checksumAlgorithms) {
    const stated = fields[`x-amz-checksum-${algorithm.toLowerCase()}`];
    if (stated === undefined) continue;
    const [value = '', parts] = stated.split('-', 2);
    const type = parts === undefined ? 'FULL_OBJECT' : 'COMPOSITE';
    return { algorithm, type, value: Buffer.from(value, 'base64') };
  }
  return undefined;
}

/**
 * Stores the bytes of an object in parts of given sizes, and computes what its ETag is made of.
 * @param refs is given the reference of each blob as soon as it is written, to remove them after a failure
 * @throws Untrue (fewer or more bytes than announced, or another checksum), and what the source and the store throw
 */
export async function copyContent(
  bytes: AsyncIterable<Uint8Array>,
  sizes: readonly number[],
  stated: Stated | undefined,
  { blobs, owner, refs }: { readonly blobs: BlobWriter; readonly owner: BlobOwner; readonly refs: string[] },
): Promise<CopiedContent> {
  const stretches = new Stretches(bytes);
  const algorithm = stated?.algorithm;
  if (algorithm !== undefined) await loadDigest(algorithm);
  const digest = (): RunningDigest | undefined => (algorithm === undefined ? undefined : startDigest(algorithm));
  const [whole, combined, checksum, composite] = [createHash('md5'), createHash('md5'), digest(), digest()];
  const parts: ManifestPart[] = [];
  try {
    for (const size of sizes) {
      const [ofPart, checksumOfPart] = [createHash('md5'), digest()];
      let read = 0;
      const counter = { update: (chunk: Uint8Array) => (read += chunk.byteLength) };
      const digests = [counter, whole, ofPart, checksum, checksumOfPart];
      const blob = size === 0 ? '' : await write(digested(stretches.take(size), digests), size);
      if (read < size) throw new Untrue('it is shorter than the source says');
      combined.update(ofPart.digest());
      const value = checksumOfPart?.digest();
      if (value) composite!.update(value);
      parts.push({ blob, size, checksum: value });
    }
    if (!(await stretches.hasEnded())) throw new Untrue('it is longer than the source says');
  } catch (error) {
    await stretches.close().catch(() => undefined);
    throw error;
  }
  const value = stated?.type === 'COMPOSITE' ? composite?.digest() : checksum?.digest();
  const isStated = stated !== undefined && Buffer.from(stated.value).equals(value!);
  if (stated?.type === 'FULL_OBJECT' && !isStated)
    throw new Untrue(`its ${stated.algorithm} is not what the source says`);
  return {
    // Those of parts belong to a checksum of the object.
    parts: isStated ? parts : parts.map((part) => ({ ...part, checksum: undefined })),
    md5: whole.digest(),
    combinedMd5: combined.digest(),
    checksum: isStated ? stated : undefined,
  };

  async function write(part: AsyncIterable<Uint8Array>, size: number): Promise<string> {
    const { ref } = await blobs.write(part, owner, size);
    refs.push(ref);
    return ref;
  }
}

async function* digested(
  bytes: AsyncIterable<Uint8Array>,
  digests: readonly ({ update(chunk: Uint8Array): unknown } | undefined)[],
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    for (const digest of digests) digest?.update(chunk);
    yield chunk;
  }
}
