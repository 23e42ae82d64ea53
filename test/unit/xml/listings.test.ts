import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeName, parseEncodingType } from '../../../shared/http/url-encoding.ts';
import {
  listMultipartUploadsResult,
  listObjectsResult,
  listObjectsV2Result,
  listVersionsResult,
} from '../../../shared/xml/listings.ts';
import { ListedRows, type RowKey, type VersionRow } from '../../../shared/xml/listed-rows.ts';
import type { NameEncoding } from '../../../shared/xml/utf8-writer.ts';
import type { Owner } from '../../../shared/documents/owner.ts';
import { escapeXml } from '../../../shared/documents/text.ts';
import { golden, namespace } from './golden.ts';
import { expectLinear } from '../../support/runs/growth.ts';
import { runs } from '../../support/runs/runs.ts';

const owner = { id: 'p1', displayName: 'Project' };
const lastModified = Date.UTC(2026, 10, 20, 10);
const etag = 'd41d8cd98f00b204e9800998ecf8427e';
const encoding = parseEncodingType('url');

/** An object, or a version if it has an id, or a delete marker if it has no ETag besides. */
interface Row {
  readonly key: string;
  readonly lastModified: number;
  readonly etag?: string;
  readonly size?: number;
  readonly partCount?: number;
  readonly storageClass?: string;
  readonly owner?: Owner;
  readonly versionId?: string;
  readonly isLatest?: boolean;
}

/** Writes the rows of a listing. */
function rowsOf(rows: readonly Row[], encoding?: NameEncoding): { rows: Uint8Array; rowCount: number } {
  const written = new ListedRows(encoding);
  const owners = new Map(rows.map((row) => [row.owner?.id, row.owner]));
  for (const { key, owner, etag, size = 0, versionId = '', isLatest = false, ...rest } of rows) {
    const around = Buffer.from(`>${key}<`);
    const row: RowKey & VersionRow = {
      ...{ ...rest, size, isLatest, keyBytes: around, keyStart: 1, keyEnd: around.length - 1 },
      versionId: () => Buffer.from(versionId),
      copyMd5: (target) => (etag === undefined ? 0 : Buffer.from(etag, 'hex').copy(target)),
    };
    if (versionId === '') written.object(row, owner?.id);
    else if (etag === undefined) written.deleteMarker(row, row, owner!.id);
    else written.version(row, row, owner!.id);
  }
  return { rows: written.bytes((id) => owners.get(id)!), rowCount: rows.length };
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe('ListObjects', () => {
  it('shows an empty bucket', () => {
    expect(
      text(
        listObjectsResult(
          {
            bucket: 'b',
            prefix: '',
            marker: '',
            delimiter: '',
            maxKeys: 1000,
            isTruncated: false,
            ...rowsOf([]),
            commonPrefixes: [],
          },
          namespace,
        ),
      ),
    ).toBe(golden`
      <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>b</Name><Prefix></Prefix><Marker></Marker><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>
      </ListBucketResult>`);
  });

  it('shows a page', () => {
    expect(
      text(
        listObjectsResult(
          {
            bucket: 'b',
            prefix: 'p<',
            marker: 'p<a',
            nextMarker: 'p<z/',
            delimiter: '/',
            maxKeys: 2,
            isTruncated: true,
            ...rowsOf([{ key: 'p<\u0001\r&', lastModified, etag, size: 5, owner }]),
            commonPrefixes: ['p<z/'],
          },
          namespace,
        ),
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
      text(
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
            ...rowsOf([{ key: 'p &\u0001', lastModified, etag, size: 5 }], encoding),
            commonPrefixes: ['p %'],
          },
          namespace,
        ),
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
      text(
        listObjectsV2Result(
          {
            bucket: 'b',
            prefix: '',
            delimiter: '',
            continuationToken: '',
            maxKeys: 0,
            isTruncated: false,
            ...rowsOf([]),
            commonPrefixes: [],
          },
          namespace,
        ),
      ),
    ).toBe(golden`
      <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Name>b</Name><Prefix></Prefix><ContinuationToken></ContinuationToken><KeyCount>0</KeyCount><MaxKeys>0</MaxKeys>
        <IsTruncated>false</IsTruncated>
      </ListBucketResult>`);
  });

  it('counts common prefixes as keys; never encodes tokens', () => {
    expect(
      text(
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
            ...rowsOf([{ key: "a/~*'!", lastModified, etag, size: 0, owner }], encoding),
            commonPrefixes: ['a/b c/', 'a/d/'],
          },
          namespace,
        ),
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
      text(
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
            ...rowsOf(
              [
                { key: 'k+', versionId: 'v2', isLatest: true, lastModified, owner },
                { key: 'k+', versionId: 'v+1', isLatest: false, lastModified, etag, size: 9, owner },
              ],
              encoding,
            ),
            commonPrefixes: ['x/'],
          },
          namespace,
        ),
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

describe('rows', () => {
  const written = (row: Partial<Row>, encoded = false): string =>
    text(rowsOf([{ key: 'k', lastModified, etag, size: 5, ...row }], encoded ? encoding : undefined).rows);

  it.each<[keyof Row, Partial<Row>, string]>([
    ['partCount', { partCount: 10_000 }, `<ETag>&quot;${etag}-10000&quot;</ETag>`],
    ['etag', { etag: '' }, '<ETag>&quot;&quot;</ETag>'],
    ['size', { size: 5 * 2 ** 40 }, `<Size>${5 * 2 ** 40}</Size>`],
    ['storageClass', { storageClass: 'GLACIER_IR' }, '<StorageClass>GLACIER_IR</StorageClass>'],
    ['owner', { owner: { id: 'a&b', displayName: '<é>' } }, '<ID>a&amp;b</ID><DisplayName>&lt;é&gt;</DisplayName>'],
  ])('show a %s', (_, row, xml) => {
    expect(written(row)).toContain(xml);
  });

  it('show the owner of each', () => {
    const other = { id: 'p2', displayName: 'Other' };
    const { rows } = rowsOf([
      { key: 'a', lastModified, etag, owner },
      { key: 'b', lastModified, etag, owner: other },
      { key: 'c', lastModified, etag, owner },
    ]);
    const shown = [...text(rows).matchAll(/<Key>(.)<.*?<DisplayName>(\w+)<.*?<\/Contents>/g)].map(([, ...of]) => of);
    expect(shown).toEqual([
      ['a', 'Project'],
      ['b', 'Other'],
      ['c', 'Project'],
    ]);
  });

  it('show any key, size and time as the general writer does', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      fc.constantFrom(
        'a',
        '&',
        '<',
        '"',
        '\u0001',
        '\t',
        '\u007f',
        'é',
        '\ufffe',
        '\uffff',
        '\uff0f',
        '😀',
        '+',
        '%',
        ' ',
        '/',
      ),
    );
    fc.assert(
      fc.property(
        fc.string({ unit, minLength: 1, maxLength: 40 }).map((key) => Buffer.from(key).toString()),
        fc.maxSafeNat(),
        fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }),
        fc.boolean(),
        (key, size, time, encoded) => {
          const row = written({ key, size, lastModified: time }, encoded);
          const name = escapeXml(encoded ? encodeName(key) : key);
          expect(row).toContain(`<Key>${name}</Key><LastModified>${new Date(time).toISOString()}</LastModified>`);
          expect(row).toContain(`<Size>${size}</Size>`);
        },
      ),
      { numRuns: runs(2000) },
    );
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
    const page = { bucket: 'b', prefix: '', delimiter: '', maxKeys: 1000, isTruncated: false, commonPrefixes: [] };
    listObjectsV2Result({ ...page, ...rowsOf(objects) }, namespace);
  });
});
