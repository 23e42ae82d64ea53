import { describe, expect, it } from 'vitest';
import { put, setVersioning } from '../support/storage/objects.ts';
import { exchange } from '../support/clients/raw-client.ts';
import { serviceUnderTest, takesSettings } from '../support/programs/service-under-test.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';

/** The exact documents of the service. Values that vary are replaced by their names. */

const service = serviceUnderTest();
const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
const xmlns = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
const emptyTag = '&quot;d41d8cd98f00b204e9800998ecf8427e&quot;';
const kind = '<ChecksumAlgorithm>CRC32</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType>';

/** Replaces times, the names of accounts, and the other given values. */
function settled(xml: string, more: Record<string, string> = {}): string {
  let text = xml
    .replace(/>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z</g, '>TIME<')
    .replace(/<ID>[^<]+<\/ID><DisplayName>[^<]+<\/DisplayName>/g, '<ID>ID</ID><DisplayName>NAME</DisplayName>');
  for (const [name, value] of Object.entries(more)) text = text.replaceAll(value, name);
  return text;
}

async function documentOf(request: Unsigned, more: Record<string, string> = {}): Promise<string> {
  const response = await service.send(request);
  expect(response.status, response.text).toBe(200);
  expect(response.text.startsWith(declaration)).toBe(true);
  return settled(response.text.slice(declaration.length), more);
}

const owner = '<Owner><ID>ID</ID><DisplayName>NAME</DisplayName></Owner>';
const initiator = '<Initiator><ID>ID</ID><DisplayName>NAME</DisplayName></Initiator>';

describe('the document of', () => {
  it('ListBuckets', async () => {
    const bucket = await service.bucket();
    const region = (await service.send({ method: 'HEAD', path: `/${bucket}` })).header('x-amz-bucket-region');
    expect(await documentOf({ path: '/', query: `prefix=${bucket}` }, { BUCKET: bucket })).toBe(
      `<ListAllMyBucketsResult ${xmlns}>${owner}<Buckets><Bucket><Name>BUCKET</Name>` +
        `<CreationDate>TIME</CreationDate><BucketRegion>${region}</BucketRegion></Bucket></Buckets><Prefix>BUCKET</Prefix></ListAllMyBucketsResult>`,
    );
  });

  it('ListObjects', async () => {
    const bucket = await service.bucket();
    for (const key of ['a', 'b/1', 'c']) await put(service.client, bucket, key);
    const query = 'delimiter=%2F&max-keys=2&encoding-type=url';
    expect(await documentOf({ path: `/${bucket}`, query }, { BUCKET: bucket })).toBe(
      `<ListBucketResult ${xmlns}><Name>BUCKET</Name><Prefix></Prefix><Marker></Marker><NextMarker>b/</NextMarker>` +
        '<MaxKeys>2</MaxKeys><Delimiter>/</Delimiter><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>' +
        `<Contents><Key>a</Key><LastModified>TIME</LastModified><ETag>${emptyTag}</ETag>${kind}<Size>0</Size>` +
        `<StorageClass>STANDARD</StorageClass>${owner}<Type>Normal</Type></Contents>` +
        '<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes></ListBucketResult>',
    );
  });

  it('ListObjectsV2', async () => {
    const bucket = await service.bucket();
    for (const key of ['a', 'b/1', 'c']) await put(service.client, bucket, key);
    const query = 'list-type=2&delimiter=%2F&prefix=&start-after=0';
    expect(await documentOf({ path: `/${bucket}`, query }, { BUCKET: bucket })).toBe(
      `<ListBucketResult ${xmlns}><Name>BUCKET</Name><Prefix></Prefix><StartAfter>0</StartAfter>` +
        '<KeyCount>3</KeyCount><MaxKeys>1000</MaxKeys><Delimiter>/</Delimiter><IsTruncated>false</IsTruncated>' +
        ['a', 'c']
          .map(
            (key) =>
              `<Contents><Key>${key}</Key><LastModified>TIME</LastModified><ETag>${emptyTag}</ETag>${kind}<Size>0</Size>` +
              '<StorageClass>STANDARD</StorageClass><Type>Normal</Type></Contents>',
          )
          .join('') +
        '<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes></ListBucketResult>',
    );
  });

  it('ListObjectVersions', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Enabled');
    const { VersionId: VERSION } = await put(service.client, bucket, 'a');
    const deleted = await service.send({ method: 'DELETE', path: `/${bucket}/a` });
    const MARKER = deleted.header('x-amz-version-id')!;
    const more = { BUCKET: bucket, VERSION: VERSION!, MARKER };
    expect(await documentOf({ path: `/${bucket}`, query: 'versions' }, more)).toBe(
      `<ListVersionsResult ${xmlns}><Name>BUCKET</Name><Prefix></Prefix><KeyMarker></KeyMarker>` +
        '<VersionIdMarker></VersionIdMarker><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>' +
        '<DeleteMarker><Key>a</Key><VersionId>MARKER</VersionId><IsLatest>true</IsLatest>' +
        `<LastModified>TIME</LastModified>${owner}</DeleteMarker>` +
        '<Version><Key>a</Key><VersionId>VERSION</VersionId><IsLatest>false</IsLatest>' +
        `<LastModified>TIME</LastModified><ETag>${emptyTag}</ETag>${kind}<Size>0</Size>` +
        `<StorageClass>STANDARD</StorageClass>${owner}<Type>Normal</Type></Version></ListVersionsResult>`,
    );
  });

  it('GetBucketVersioning, in its three states', async () => {
    const bucket = await service.bucket();
    const request = { path: `/${bucket}`, query: 'versioning' };
    expect(await documentOf(request)).toBe(`<VersioningConfiguration ${xmlns}/>`);
    for (const status of ['Enabled', 'Suspended'] as const) {
      await setVersioning(service.client, bucket, status);
      expect(await documentOf(request)).toBe(
        `<VersioningConfiguration ${xmlns}><Status>${status}</Status><MfaDelete>Disabled</MfaDelete></VersioningConfiguration>`,
      );
    }
  });

  it('GetBucketLocation', async () => {
    const bucket = await service.bucket();
    expect(await documentOf({ path: `/${bucket}`, query: 'location' })).toBe(`<LocationConstraint ${xmlns}/>`);
  });

  it('DeleteObjects', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'kept');
    const entries = [
      '<Key>gone</Key>',
      '<Key>kept</Key><ETag>other</ETag>',
      `<Key>gone</Key><VersionId>null</VersionId>`,
    ];
    const body = `<Delete>${entries.map((entry) => `<Object>${entry}</Object>`).join('')}</Delete>`;
    expect(await documentOf({ method: 'POST', path: `/${bucket}`, query: 'delete', body })).toBe(
      `<DeleteResult ${xmlns}><Deleted><Key>gone</Key></Deleted><Error><Key>kept</Key><Code>PreconditionFailed</Code>` +
        '<Message>At least one of the pre-conditions you specified did not hold</Message></Error>' +
        '<Deleted><Key>gone</Key><VersionId>null</VersionId></Deleted></DeleteResult>',
    );
  });

  it('DeleteObjects with markers', async () => {
    const bucket = await service.bucket();
    await setVersioning(service.client, bucket, 'Suspended');
    const request = { method: 'POST', path: `/${bucket}`, query: 'delete' };
    const added = await documentOf({ ...request, body: '<Delete><Object><Key>a</Key></Object></Delete>' });
    expect(added).toBe(
      `<DeleteResult ${xmlns}><Deleted><Key>a</Key><DeleteMarker>true</DeleteMarker>` +
        '<DeleteMarkerVersionId>null</DeleteMarkerVersionId></Deleted></DeleteResult>',
    );
    const body = '<Delete><Object><Key>a</Key><VersionId>null</VersionId></Object></Delete>';
    expect(await documentOf({ ...request, body })).toBe(
      `<DeleteResult ${xmlns}><Deleted><Key>a</Key><VersionId>null</VersionId><DeleteMarker>true</DeleteMarker>` +
        '<DeleteMarkerVersionId>null</DeleteMarkerVersionId></Deleted></DeleteResult>',
    );
  });

  it('an upload in parts, from its beginning to its end', async () => {
    const bucket = await service.bucket();
    const path = `/${bucket}/a%20key`;
    const created = await service.send({ method: 'POST', path, query: 'uploads' });
    const UPLOAD = /<UploadId>([^<]+)</.exec(created.text)![1]!;
    const more = { BUCKET: bucket, UPLOAD, HOST: service.host };
    expect(settled(created.text, more)).toBe(
      `${declaration}<InitiateMultipartUploadResult ${xmlns}><Bucket>BUCKET</Bucket><Key>a key</Key>` +
        '<UploadId>UPLOAD</UploadId></InitiateMultipartUploadResult>',
    );

    await service.send({ method: 'PUT', path, query: `partNumber=7&uploadId=${UPLOAD}`, body: '' });
    const checksum = '<ChecksumCRC64NVME>AAAAAAAAAAA=</ChecksumCRC64NVME>';
    expect(await documentOf({ path, query: `uploadId=${UPLOAD}` }, more)).toBe(
      `<ListPartsResult ${xmlns}><Bucket>BUCKET</Bucket><Key>a key</Key><UploadId>UPLOAD</UploadId>${initiator}${owner}` +
        '<StorageClass>STANDARD</StorageClass><PartNumberMarker>0</PartNumberMarker><MaxParts>1000</MaxParts>' +
        '<IsTruncated>false</IsTruncated><Part><PartNumber>7</PartNumber><LastModified>TIME</LastModified>' +
        `<ETag>${emptyTag}</ETag><Size>0</Size>${checksum}</Part></ListPartsResult>`,
    );
    expect(await documentOf({ path: `/${bucket}`, query: 'uploads' }, more)).toBe(
      `<ListMultipartUploadsResult ${xmlns}><Bucket>BUCKET</Bucket><KeyMarker></KeyMarker>` +
        '<UploadIdMarker></UploadIdMarker><Prefix></Prefix><MaxUploads>1000</MaxUploads>' +
        '<IsTruncated>false</IsTruncated><Upload><Key>a key</Key><UploadId>UPLOAD</UploadId>' +
        `${initiator}${owner}<StorageClass>STANDARD</StorageClass><Initiated>TIME</Initiated></Upload>` +
        '</ListMultipartUploadsResult>',
    );

    const part = '<Part><PartNumber>7</PartNumber><ETag>d41d8cd98f00b204e9800998ecf8427e</ETag></Part>';
    const body = `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`;
    expect(await documentOf({ method: 'POST', path, query: `uploadId=${UPLOAD}`, body }, more)).toBe(
      `<CompleteMultipartUploadResult ${xmlns}><Location>${new URL(service.ownUrl).protocol}//HOST/BUCKET/a%20key</Location>` +
        '<Bucket>BUCKET</Bucket><Key>a key</Key><ETag>&quot;59adb24ef3cdbe0297f05b395827453f-1&quot;</ETag>' +
        `${checksum}<ChecksumType>FULL_OBJECT</ChecksumType></CompleteMultipartUploadResult>`,
    );
  });
});

describe.runIf(takesSettings)('another namespace', () => {
  const namespace = 'urn:example:storage';
  const other = serviceUnderTest({ args: ['--xml-namespace', namespace] });

  it('is that of every root but Error', async () => {
    const bucket = await other.bucket();
    await other.client.send(await command(bucket));
    const send = (unsigned: Unsigned) => exchange(other.url, signed(other.host, unsigned, { key: other.alice }));
    for (const query of ['', 'list-type=2', 'versions', 'uploads', 'versioning', 'location']) {
      const { text } = await send({ path: `/${bucket}`, query });
      expect(text).toMatch(new RegExp(`^${declaration.replace(/\?/g, '\\?')}<\\w+ xmlns="${namespace}"`));
      expect(text).not.toContain('amazonaws');
    }
    const { text } = await send({ path: `/${bucket}/missing` });
    expect(text).toContain(`${declaration}<Error><Code>NoSuchKey</Code>`);
  });

  async function command(bucket: string) {
    const { PutObjectCommand } = await import('@aws-sdk/client-s3');
    return new PutObjectCommand({ Bucket: bucket, Key: 'key', Body: 'x' });
  }
});
