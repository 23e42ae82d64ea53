import { expect, it } from 'vitest';
import { copyObjectResult, copyPartResult } from '../../../shared/documents/copy.ts';
import { golden, namespace } from '../xml/golden.ts';

const copy = { lastModified: Date.UTC(2026, 10, 20, 10), etag: 'abc-2' };
const checksum = { algorithm: 'CRC64NVME', value: Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]), type: 'FULL_OBJECT' };

it('CopyObject answers time, entity tag and checksum', () => {
  expect(copyObjectResult.write(copy, namespace)).toBe(golden`
    <CopyObjectResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <LastModified>2026-11-20T10:00:00.000Z</LastModified><ETag>&quot;abc-2&quot;</ETag>
    </CopyObjectResult>`);
  expect(copyObjectResult.write({ ...copy, checksum }, namespace)).toBe(golden`
    <CopyObjectResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <LastModified>2026-11-20T10:00:00.000Z</LastModified><ETag>&quot;abc-2&quot;</ETag>
      <ChecksumCRC64NVME>AQIDBAUGBwg=</ChecksumCRC64NVME><ChecksumType>FULL_OBJECT</ChecksumType>
    </CopyObjectResult>`);
});

it('UploadPartCopy answers the same of a part, whose checksum has no type', () => {
  expect(copyPartResult.write({ ...copy, checksum }, namespace)).toBe(golden`
    <CopyPartResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <LastModified>2026-11-20T10:00:00.000Z</LastModified><ETag>&quot;abc-2&quot;</ETag>
      <ChecksumCRC64NVME>AQIDBAUGBwg=</ChecksumCRC64NVME>
    </CopyPartResult>`);
});
