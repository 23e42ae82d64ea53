import { expect, it } from 'vitest';
import { objectAttributes } from '../../../shared/documents/attributes.ts';
import { golden, namespace } from '../xml/golden.ts';

const value = Buffer.from([1, 2, 3, 4]);

it('GetObjectAttributes answers all that was asked for, the tag without quotes', () => {
  expect(
    objectAttributes.write(
      {
        etag: 'abc-1',
        checksum: { typed: { algorithm: 'CRC32', value, type: 'COMPOSITE' } },
        objectParts: {
          totalParts: 2,
          partNumberMarker: 0,
          nextPartNumberMarker: 1,
          maxParts: 1,
          isTruncated: true,
          parts: [{ partNumber: 1, size: 7, checksum: { algorithm: 'CRC32', value } }],
        },
        storageClass: 'STANDARD',
        objectSize: 9,
      },
      namespace,
    ),
  ).toBe(golden`
    <GetObjectAttributesResponse xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <ETag>abc-1</ETag>
      <Checksum><ChecksumCRC32>AQIDBA==</ChecksumCRC32><ChecksumType>COMPOSITE</ChecksumType></Checksum>
      <ObjectParts>
        <PartsCount>2</PartsCount><PartNumberMarker>0</PartNumberMarker><NextPartNumberMarker>1</NextPartNumberMarker>
        <MaxParts>1</MaxParts><IsTruncated>true</IsTruncated>
        <Part><PartNumber>1</PartNumber><Size>7</Size><ChecksumCRC32>AQIDBA==</ChecksumCRC32></Part>
      </ObjectParts>
      <StorageClass>STANDARD</StorageClass><ObjectSize>9</ObjectSize>
    </GetObjectAttributesResponse>`);
});

it('GetObjectAttributes leaves out the rest', () => {
  expect(objectAttributes.write({ objectSize: 0 }, namespace)).toBe(golden`
    <GetObjectAttributesResponse xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <ObjectSize>0</ObjectSize>
    </GetObjectAttributesResponse>`);
});
