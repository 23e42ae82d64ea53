import { describe, expect, it } from 'vitest';
import { completeMultipartUpload } from '../../../functions/multipart/complete-multipart-upload.ts';
import {
  completeMultipartUploadResult,
  initiateMultipartUploadResult,
  partListing,
  postResponse,
} from '../../../shared/documents/multipart.ts';
import { bodyReader } from './document-readers.ts';
import { golden, namespace } from '../xml/golden.ts';

const lastModified = Date.UTC(2026, 10, 20, 10);
const value = Uint8Array.of(1, 2, 3, 4);

it('CreateMultipartUpload answers the upload id', () => {
  expect(initiateMultipartUploadResult.write({ bucket: 'b', key: 'k&', uploadId: 'u1' }, namespace)).toBe(golden`
    <InitiateMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <Bucket>b</Bucket><Key>k&amp;</Key><UploadId>u1</UploadId>
    </InitiateMultipartUploadResult>`);
});

describe('CompleteMultipartUpload', () => {
  const read = (inner: string) =>
    bodyReader(completeMultipartUpload)(
      `<CompleteMultipartUpload xmlns="${namespace}">${inner}</CompleteMultipartUpload>`,
    );

  it('names parts as they come, tags quoted or not, with checksums', async () => {
    expect(
      await read(
        '<Part><PartNumber>2</PartNumber><ETag>"abc"</ETag></Part>' +
          '<Part><ETag>&quot;def&quot;</ETag><PartNumber>1</PartNumber><ChecksumCRC32>AQIDBA==</ChecksumCRC32></Part>' +
          '<Part><ETag>ghi</ETag><PartNumber>99999</PartNumber></Part>',
      ),
    ).toEqual([
      { partNumber: 2, etag: 'abc', checksums: [] },
      { partNumber: 1, etag: 'def', checksums: [{ algorithm: 'CRC32', value }] },
      { partNumber: 99999, etag: 'ghi', checksums: [] },
    ]);
  });

  it.each([
    ['no parts', ''],
    ['10,001 parts', '<Part><PartNumber>1</PartNumber><ETag>e</ETag></Part>'.repeat(10_001)],
    ['no number', '<Part><ETag>e</ETag></Part>'],
    ['no tag', '<Part><PartNumber>1</PartNumber></Part>'],
    ['two numbers', '<Part><PartNumber>1</PartNumber><PartNumber>2</PartNumber><ETag>e</ETag></Part>'],
    ['NaN', '<Part><PartNumber>one</PartNumber><ETag>e</ETag></Part>'],
    ['negative', '<Part><PartNumber>-1</PartNumber><ETag>e</ETag></Part>'],
    ['overflow', '<Part><PartNumber>18446744073709551617</PartNumber><ETag>e</ETag></Part>'],
    ['unknown element', '<Part><PartNumber>1</PartNumber><ETag>e</ETag><Other/></Part>'],
    ['unknown element beside parts', '<Part><PartNumber>1</PartNumber><ETag>e</ETag></Part><Other/>'],
    ['bad base64', '<Part><PartNumber>1</PartNumber><ETag>e</ETag><ChecksumCRC32>A?</ChecksumCRC32></Part>'],
    [
      'two checksums of a kind',
      '<Part><PartNumber>1</PartNumber><ETag>e</ETag><ChecksumCRC32>AQIDBA==</ChecksumCRC32><ChecksumCRC32>AQIDBA==</ChecksumCRC32></Part>',
    ],
  ])('%s → MalformedXML', async (_, inner) => {
    await expect(read(inner)).rejects.toMatchObject({ name: 'S3Error', code: 'MalformedXML' });
  });

  it('answers where the object is', () => {
    const completed = { location: 'http://s3.local/b/k', bucket: 'b', key: 'k', etag: 'abc-2' };
    expect(completeMultipartUploadResult.write(completed, namespace)).toBe(golden`
      <CompleteMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Location>http://s3.local/b/k</Location><Bucket>b</Bucket><Key>k</Key><ETag>&quot;abc-2&quot;</ETag>
      </CompleteMultipartUploadResult>`);
    expect(
      completeMultipartUploadResult.write(
        { ...completed, checksum: { algorithm: 'CRC32', value, type: 'COMPOSITE', parts: 2 } },
        namespace,
      ),
    ).toBe(golden`
      <CompleteMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Location>http://s3.local/b/k</Location><Bucket>b</Bucket><Key>k</Key><ETag>&quot;abc-2&quot;</ETag>
        <ChecksumCRC32>AQIDBA==-2</ChecksumCRC32><ChecksumType>COMPOSITE</ChecksumType>
      </CompleteMultipartUploadResult>`);
  });
});

it('ListParts shows a page', () => {
  expect(
    partListing.write(
      {
        bucket: 'b',
        key: 'k',
        uploadId: 'u1',
        initiator: { id: 'p1', displayName: 'One' },
        owner: { id: 'p2', displayName: 'Two' },
        storageClass: 'STANDARD',
        partNumberMarker: 0,
        nextPartNumberMarker: 2,
        maxParts: 2,
        isTruncated: true,
        checksumAlgorithm: 'CRC32',
        checksumType: 'COMPOSITE',
        parts: [
          { partNumber: 1, lastModified, etag: 'abc', size: 5_242_880, checksum: { algorithm: 'CRC32', value } },
          { partNumber: 2, lastModified, etag: 'def', size: 7 },
        ],
      },
      namespace,
    ),
  ).toBe(golden`
    <ListPartsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <Bucket>b</Bucket><Key>k</Key><UploadId>u1</UploadId>
      <Initiator><ID>p1</ID><DisplayName>One</DisplayName></Initiator>
      <Owner><ID>p2</ID><DisplayName>Two</DisplayName></Owner>
      <StorageClass>STANDARD</StorageClass><ChecksumAlgorithm>CRC32</ChecksumAlgorithm><ChecksumType>COMPOSITE</ChecksumType>
      <PartNumberMarker>0</PartNumberMarker><NextPartNumberMarker>2</NextPartNumberMarker><MaxParts>2</MaxParts>
      <IsTruncated>true</IsTruncated>
      <Part>
        <PartNumber>1</PartNumber><LastModified>2026-11-20T10:00:00.000Z</LastModified><ETag>&quot;abc&quot;</ETag>
        <Size>5242880</Size><ChecksumCRC32>AQIDBA==</ChecksumCRC32>
      </Part>
      <Part>
        <PartNumber>2</PartNumber><LastModified>2026-11-20T10:00:00.000Z</LastModified><ETag>&quot;def&quot;</ETag>
        <Size>7</Size>
      </Part>
    </ListPartsResult>`);
});

it('PostObject answers where the object is', () => {
  expect(postResponse.write({ location: 'http://s3.local/b/k%26', bucket: 'b', key: 'k&', etag: 'abc' }, undefined))
    .toBe(golden`
    <PostResponse>
      <Location>http://s3.local/b/k%26</Location><Bucket>b</Bucket><Key>k&amp;</Key><ETag>&quot;abc&quot;</ETag>
    </PostResponse>`);
});
