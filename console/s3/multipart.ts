import { failureOf } from './failure.ts';
import type { S3Client } from './client.ts';
import { writeXml } from './xml.ts';
import { completedParts, initiateMultipartUploadResult, partListing } from '../../shared/documents/multipart.ts';

export interface Part {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
}

const mebibyte = 1024 ** 2;

/** Objects of this size and more are uploaded by parts. */
export const multipartFrom = 16 * mebibyte;

const smallestPart = 8 * mebibyte;
const maxParts = 10_000;

/** The size of an upload's parts: 8 MiB, or more if there would be more than 10,000 parts, in whole mebibytes. */
export function partSizeOf(size: number): number {
  return Math.max(smallestPart, Math.ceil(size / maxParts / mebibyte) * mebibyte);
}

export async function createMultipartUpload(
  client: S3Client,
  bucket: string,
  key: string,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const xml = await client.document({ method: 'POST', bucket, key, query: { uploads: '' }, headers });
  return initiateMultipartUploadResult.content.read(xml).uploadId;
}

/** The parts of an upload that the service has. */
export async function listParts(client: S3Client, bucket: string, key: string, uploadId: string): Promise<Part[]> {
  const parts: Part[] = [];
  let marker: string | undefined;
  do {
    const xml = await client.document({
      method: 'GET',
      bucket,
      key,
      query: { uploadId, 'part-number-marker': marker },
    });
    const page = partListing.content.read(xml);
    parts.push(...page.parts.map(({ partNumber, size, etag }) => ({ number: partNumber, size, etag })));
    marker = page.isTruncated ? String(page.nextPartNumberMarker) : undefined;
  } while (marker !== undefined);
  return parts;
}

/** @throws S3Failure, also for an error in a response with status 200. */
export async function completeMultipartUpload(
  client: S3Client,
  { bucket, key, uploadId }: { readonly bucket: string; readonly key: string; readonly uploadId: string },
  parts: readonly Part[],
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const list = [...parts]
    .sort((a, b) => a.number - b.number)
    .map(({ number, etag }) => ({ partNumber: number, etag, checksums: [] }));
  const response = await client.send({
    method: 'POST',
    bucket,
    key,
    query: { uploadId },
    body: writeXml(completedParts, list),
    headers,
  });
  const text = await response.text();
  if (text.includes('<Error')) throw failureOf(500, text, response.headers.get('x-amz-request-id') ?? '');
}

export async function abortMultipartUpload(
  client: S3Client,
  { bucket, key, uploadId }: { readonly bucket: string; readonly key: string; readonly uploadId: string },
): Promise<void> {
  await client.send({ method: 'DELETE', bucket, key, query: { uploadId } });
}
