import { describe, expect, it } from 'vitest';
import type { S3Client, S3Request } from '../../console/s3/client.ts';
import { multipartFrom, partSizeOf } from '../../console/s3/multipart.ts';
import { copyObject, maxCopied, replaceHeaders } from '../../console/s3/objects.ts';
import { parseXml } from '../../console/s3/xml.ts';

/** Requests about objects that are larger than any test could make. */

const gibibyte = 1024 ** 3;

/** A client that answers every request of a copy in parts, and records the requests. */
function recorded(fails?: number): { readonly client: S3Client; readonly requests: S3Request[] } {
  const requests: S3Request[] = [];
  const send = async (request: S3Request): Promise<Response> => {
    requests.push(request);
    if (Number(request.query?.['partNumber']) === fails) throw new Error('no');
    const headers = {
      ...{ 'content-type': 'video/mp4', 'x-amz-meta-colour': 'green', 'content-length': '1', etag: '"e"' },
      ...{ 'x-amz-server-side-encryption': 'AES256', 'x-amz-storage-class': 'STANDARD_IA' },
    };
    const text =
      '<R><Bucket>b</Bucket><Key>k</Key><UploadId>u</UploadId><LastModified>2026-01-01T00:00:00Z</LastModified>' +
      '<ETag>"e"</ETag><TagSet><Tag><Key>a b</Key><Value>c</Value></Tag></TagSet></R>';
    return new Response(text, { headers });
  };
  const document = async (request: S3Request) => parseXml(await (await send(request)).text());
  return { client: { send, document } as unknown as S3Client, requests };
}

const said = ({ method, query, headers }: S3Request): string =>
  [method, ...Object.keys(query ?? {}), headers?.['x-amz-copy-source-range'] ?? '']
    .filter((text) => text !== '')
    .join(' ');

describe('copies inside the service', () => {
  it('are one request up to 5 GiB', async () => {
    const { client, requests } = recorded();
    await copyObject(client, { bucket: 'a', key: 'k' }, { bucket: 'b', key: 'k' }, { size: maxCopied });
    expect(requests.map(said)).toEqual(['PUT']);
  });

  it('are parts above, with headers, metadata and tags, and without bytes', async () => {
    const { client, requests } = recorded();
    const size = 12 * gibibyte;
    await copyObject(
      client,
      { bucket: 'a', key: 'k', versionId: 'v' },
      { bucket: 'b', key: 'l' },
      { size, ifAbsent: true },
    );
    expect(requests.map(said)).toEqual([
      'HEAD versionId',
      'GET tagging versionId',
      'POST uploads',
      `PUT uploadId partNumber bytes=0-${5 * gibibyte - 1}`,
      `PUT uploadId partNumber bytes=${5 * gibibyte}-${10 * gibibyte - 1}`,
      `PUT uploadId partNumber bytes=${10 * gibibyte}-${12 * gibibyte - 1}`,
      'POST uploadId',
    ]);
    expect(requests[2]!.headers).toEqual({
      'content-type': 'video/mp4',
      'x-amz-meta-colour': 'green',
      'x-amz-tagging': 'a%20b=c',
      'x-amz-server-side-encryption': 'AES256',
      'x-amz-storage-class': 'STANDARD_IA',
    });
    // Each part is of the object that was asked about, or of none.
    for (const part of requests.slice(3, 6)) {
      expect(part.headers).toMatchObject({
        'x-amz-copy-source': '/a/k?versionId=v',
        'x-amz-copy-source-if-match': '"e"',
      });
    }
    expect(requests[6]!.headers).toEqual({ 'if-none-match': '*' });
  });

  it('leave no parts behind when one fails', async () => {
    const { client, requests } = recorded(2);
    const copy = copyObject(client, { bucket: 'a', key: 'k' }, { bucket: 'b', key: 'k' }, { size: 6 * gibibyte });
    await expect(copy).rejects.toThrow('no');
    expect(said(requests.at(-1)!)).toBe('DELETE uploadId');
  });

  it('replace headers of objects of any size', async () => {
    for (const [size, expected] of [
      [gibibyte, ['PUT']],
      [6 * gibibyte, ['GET tagging versionId', 'POST uploads', 'PUT uploadId', 'PUT uploadId', 'POST uploadId']],
    ] as const) {
      const { client, requests } = recorded();
      const stored = { etag: 'e', encryption: 'AES256', storageClass: 'STANDARD_IA' };
      const object = { size, ...stored, headers: { 'cache-control': 'no-cache' }, metadata: { colour: 'red' } };
      await replaceHeaders(client, { bucket: 'a', key: 'k' }, object);
      expect(requests.map((request) => said(request).split(' partNumber')[0])).toEqual(expected);
      const written = requests.find(({ headers }) => headers?.['cache-control'] !== undefined)!;
      expect(written.headers).toMatchObject({
        'cache-control': 'no-cache',
        'x-amz-meta-colour': 'red',
        'x-amz-server-side-encryption': 'AES256',
        'x-amz-storage-class': 'STANDARD_IA',
      });
    }
  });
});

describe('uploads', () => {
  it('have parts of 8 MiB, and larger ones rather than more than 10,000', () => {
    const mebibyte = 1024 ** 2;
    expect(partSizeOf(multipartFrom)).toBe(8 * mebibyte);
    expect(partSizeOf(5 * gibibyte)).toBe(8 * mebibyte);
    for (const size of [5 * gibibyte, 1024 * gibibyte, 5 * 1024 * gibibyte]) {
      expect(Math.ceil(size / partSizeOf(size))).toBeLessThanOrEqual(10_000);
      expect(partSizeOf(size) % mebibyte).toBe(0);
    }
  });
});
