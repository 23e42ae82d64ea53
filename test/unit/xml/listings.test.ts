import { describe, expect, it } from 'vitest';
import { parseEncodingType } from '../../../shared/http/url-encoding.ts';
import {
  listMultipartUploadsResult,
  listObjectsResult,
  listObjectsV2Result,
  listVersionsResult,
} from '../../../shared/xml/listings.ts';
import { golden, namespace } from './golden.ts';
import { expectLinear } from '../../support/growth.ts';

const owner = { id: 'p1', displayName: 'Project' };
const lastModified = Date.UTC(2026, 10, 20, 10);
const etag = 'd41d8cd98f00b204e9800998ecf8427e';
const encoding = parseEncodingType('url');

describe('ListObjects', () => {
  it('shows an empty bucket', () => {
    expect(
      listObjectsResult(
        {
          bucket: 'b',
          prefix: '',
          marker: '',
          delimiter: '',
          maxKeys: 1000,
          isTruncated: false,
          objects: [],
          commonPrefixes: [],
        },
        namespace,
      ),
    ).toBe(golden`
      <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>b</Name><Prefix></Prefix><Marker></Marker><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>
      </ListBucketResult>`);
  });

  it('shows a page', () => {
    expect(
      listObjectsResult(
        {
          bucket: 'b',
          prefix: 'p<',
          marker: 'p<a',
          nextMarker: 'p<z/',
          delimiter: '/',
          maxKeys: 2,
          isTruncated: true,
          objects: [{ key: 'p<\u0001\r&', lastModified, etag, size: 5, owner }],
          commonPrefixes: ['p<z/'],
        },
        namespace,
      ),
    ).toBe(golden`
      <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>b</Name><Prefix>p&lt;</Prefix><Marker>p&lt;a</Marker><NextMarker>p&lt;z/</NextMarker><MaxKeys>2</MaxKeys>
        <Delimiter>/</Delimiter><IsTruncated>true</IsTruncated>
        <Contents>
          <Key>p&lt;&#x1;&#13;&amp;</Key><LastModified>2026-11-20T10:00:00.000Z</LastModified>
          <ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>5</Size><StorageClass>STANDARD</StorageClass>
          <Owner><ID>p1</ID><DisplayName>Project</DisplayName></Owner><Type>Normal</Type>
        </Contents>
        <CommonPrefixes><Prefix>p&lt;z/</Prefix></CommonPrefixes>
      </ListBucketResult>`);
  });

  it('encodes every name but the prefix, and names only', () => {
    expect(
      listObjectsResult(
        {
          bucket: 'b',
          prefix: 'p ',
          marker: 'p +',
          nextMarker: 'p é/',
          delimiter: '%',
          encoding,
          maxKeys: 2,
          isTruncated: true,
          objects: [{ key: 'p &\u0001', lastModified, etag, size: 5 }],
          commonPrefixes: ['p %'],
        },
        namespace,
      ),
    ).toBe(golden`
      <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>b</Name><Prefix>p </Prefix><Marker>p%20%2B</Marker><NextMarker>p%20%C3%A9/</NextMarker><MaxKeys>2</MaxKeys>
        <Delimiter>%25</Delimiter><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
        <Contents>
          <Key>p%20%26%01</Key><LastModified>2026-11-20T10:00:00.000Z</LastModified>
          <ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>5</Size><StorageClass>STANDARD</StorageClass>
          <Type>Normal</Type>
        </Contents>
        <CommonPrefixes><Prefix>p%20%25</Prefix></CommonPrefixes>
      </ListBucketResult>`);
  });
});

describe('ListObjectsV2', () => {
  it('echoes an empty token, and counts no keys', () => {
    expect(
      listObjectsV2Result(
        {
          bucket: 'b',
          prefix: '',
          delimiter: '',
          continuationToken: '',
          maxKeys: 0,
          isTruncated: false,
          objects: [],
          commonPrefixes: [],
        },
        namespace,
      ),
    ).toBe(golden`
      <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>b</Name><Prefix></Prefix><ContinuationToken></ContinuationToken><KeyCount>0</KeyCount><MaxKeys>0</MaxKeys>
        <IsTruncated>false</IsTruncated>
      </ListBucketResult>`);
  });

  it('counts common prefixes as keys; never encodes tokens', () => {
    expect(
      listObjectsV2Result(
        {
          bucket: 'b',
          prefix: 'a/',
          delimiter: '/',
          continuationToken: 'a b+',
          nextContinuationToken: 'c+d',
          startAfter: 'a/ ',
          encoding,
          maxKeys: 3,
          isTruncated: true,
          objects: [{ key: "a/~*'!", lastModified, etag, size: 0, owner }],
          commonPrefixes: ['a/b c/', 'a/d/'],
        },
        namespace,
      ),
    ).toBe(golden`
      <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>b</Name><Prefix>a/</Prefix><StartAfter>a/%20</StartAfter><ContinuationToken>a b+</ContinuationToken>
        <NextContinuationToken>c+d</NextContinuationToken><KeyCount>3</KeyCount><MaxKeys>3</MaxKeys>
        <Delimiter>/</Delimiter><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
        <Contents>
          <Key>a/~*%27%21</Key><LastModified>2026-11-20T10:00:00.000Z</LastModified>
          <ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>0</Size><StorageClass>STANDARD</StorageClass>
          <Owner><ID>p1</ID><DisplayName>Project</DisplayName></Owner><Type>Normal</Type>
        </Contents>
        <CommonPrefixes><Prefix>a/b%20c/</Prefix></CommonPrefixes>
        <CommonPrefixes><Prefix>a/d/</Prefix></CommonPrefixes>
      </ListBucketResult>`);
  });
});

describe('ListObjectVersions', () => {
  it('keeps versions and delete markers in one order; markers have no content', () => {
    expect(
      listVersionsResult(
        {
          bucket: 'b',
          prefix: '',
          delimiter: '/',
          keyMarker: 'a b',
          versionIdMarker: 'v 0',
          nextKeyMarker: 'k+',
          nextVersionIdMarker: 'v+1',
          encoding,
          maxKeys: 3,
          isTruncated: true,
          versions: [
            { kind: 'delete-marker', key: 'k+', versionId: 'v2', isLatest: true, lastModified, owner },
            { kind: 'version', key: 'k+', versionId: 'v+1', isLatest: false, lastModified, etag, size: 9, owner },
          ],
          commonPrefixes: ['x/'],
        },
        namespace,
      ),
    ).toBe(golden`
      <ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>b</Name><Prefix></Prefix><KeyMarker>a%20b</KeyMarker><VersionIdMarker>v 0</VersionIdMarker>
        <NextKeyMarker>k%2B</NextKeyMarker><NextVersionIdMarker>v+1</NextVersionIdMarker><MaxKeys>3</MaxKeys>
        <Delimiter>/</Delimiter><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
        <DeleteMarker>
          <Key>k%2B</Key><VersionId>v2</VersionId><IsLatest>true</IsLatest>
          <LastModified>2026-11-20T10:00:00.000Z</LastModified>
          <Owner><ID>p1</ID><DisplayName>Project</DisplayName></Owner>
        </DeleteMarker>
        <Version>
          <Key>k%2B</Key><VersionId>v+1</VersionId><IsLatest>false</IsLatest>
          <LastModified>2026-11-20T10:00:00.000Z</LastModified>
          <ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>9</Size><StorageClass>STANDARD</StorageClass>
          <Owner><ID>p1</ID><DisplayName>Project</DisplayName></Owner><Type>Normal</Type>
        </Version>
        <CommonPrefixes><Prefix>x/</Prefix></CommonPrefixes>
      </ListVersionsResult>`);
  });
});

describe('ListMultipartUploads', () => {
  it('shows a page', () => {
    expect(
      listMultipartUploadsResult(
        {
          bucket: 'b',
          prefix: 'p ',
          delimiter: '/',
          keyMarker: 'p a',
          uploadIdMarker: 'u 0',
          nextKeyMarker: 'p c',
          nextUploadIdMarker: 'u+1',
          encoding,
          maxUploads: 2,
          isTruncated: true,
          uploads: [
            {
              key: 'p c',
              uploadId: 'u+1',
              initiator: owner,
              owner: { id: 'p2', displayName: '' },
              initiated: lastModified,
            },
          ],
          commonPrefixes: ['p b/'],
        },
        namespace,
      ),
    ).toBe(golden`
      <ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Bucket>b</Bucket><KeyMarker>p%20a</KeyMarker><UploadIdMarker>u 0</UploadIdMarker>
        <NextKeyMarker>p%20c</NextKeyMarker><NextUploadIdMarker>u+1</NextUploadIdMarker><Prefix>p%20</Prefix>
        <Delimiter>/</Delimiter><EncodingType>url</EncodingType><MaxUploads>2</MaxUploads><IsTruncated>true</IsTruncated>
        <Upload>
          <Key>p%20c</Key><UploadId>u+1</UploadId><Initiator><ID>p1</ID><DisplayName>Project</DisplayName></Initiator>
          <Owner><ID>p2</ID><DisplayName></DisplayName></Owner><StorageClass>STANDARD</StorageClass>
          <Initiated>2026-11-20T10:00:00.000Z</Initiated>
        </Upload>
        <CommonPrefixes><Prefix>p%20b/</Prefix></CommonPrefixes>
      </ListMultipartUploadsResult>`);
  });
});

it('a listing is written in linear time', () => {
  const object = { key: 'a/key/of/usual/length', lastModified, etag, size: 1 };
  expectLinear(60, (size) => {
    const objects = Array.from({ length: size }, () => object);
    listObjectsV2Result(
      { bucket: 'b', prefix: '', delimiter: '', maxKeys: 1000, isTruncated: false, objects, commonPrefixes: [] },
      namespace,
    );
  });
});
