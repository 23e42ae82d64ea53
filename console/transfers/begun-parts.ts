import type { S3Client } from '../s3/client.ts';
import { isFailure } from '../s3/failure.ts';
import { abortMultipartUpload, listParts } from '../s3/multipart.ts';
import { readAll, remove, write } from '../session/store.ts';

/** A started multipart upload, with the data to resume it when the file is chosen again. */
export interface BegunParts {
  readonly accessKeyId: string;
  readonly endpoint: string;
  readonly bucket: string;
  readonly key: string;
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
  readonly uploadId: string;
  readonly partSize: number;
}

/** Keeps it on this device. Storage that fails is no reason not to upload. */
export async function keepParts(begun: BegunParts): Promise<void> {
  await write('uploads', begun.uploadId, begun).catch(() => undefined);
}

export async function forgetParts(uploadId: string): Promise<void> {
  await remove('uploads', uploadId);
}

/** Returns the multipart uploads of this access key that were begun on this device and not finished. */
export async function allBegunParts(client: S3Client): Promise<BegunParts[]> {
  const all = (await readAll('uploads').catch(() => [])) as BegunParts[];
  const { endpoint, credentials } = client.signer;
  return all.filter((each) => each.endpoint === endpoint && each.accessKeyId === credentials.accessKeyId);
}

/** Returns a started upload of this file to this key, if the service still has it. */
export async function begunPartsOf(
  client: S3Client,
  bucket: string,
  key: string,
  { name, size, lastModified }: File,
): Promise<BegunParts | undefined> {
  const found = (await allBegunParts(client)).find(
    (each) =>
      each.bucket === bucket &&
      each.key === key &&
      each.name === name &&
      each.size === size &&
      each.lastModified === lastModified,
  );
  if (found === undefined) return undefined;
  try {
    await listParts(client, bucket, key, found.uploadId);
    return found;
  } catch (error) {
    if (!isFailure(error, 'NoSuchUpload', 'NoSuchBucket')) throw error;
    await forgetParts(found.uploadId);
    return undefined;
  }
}

/** Gives a multipart upload up: the service forgets its parts. */
export async function discardParts(client: S3Client, begun: BegunParts): Promise<void> {
  await abortMultipartUpload(client, begun).catch((error: unknown) => {
    if (!isFailure(error, 'NoSuchUpload', 'NoSuchBucket')) throw error;
  });
  await forgetParts(begun.uploadId);
}
