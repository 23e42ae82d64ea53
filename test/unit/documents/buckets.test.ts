import { describe, expect, it } from 'vitest';
import { createBucket } from '../../../functions/bucket/create-bucket.ts';
import { bucketList, locationConstraint, versioning } from '../../../shared/documents/buckets.ts';
import { readDocument } from '../../../shared/xml/reader.ts';
import { bodyReader } from './document-readers.ts';
import { codeOf, golden, namespace } from '../xml/golden.ts';

const owner = { id: 'p1', displayName: 'Project & Co' };
const creationDate = Date.UTC(2026, 10, 20, 10, 0, 0, 7);

describe('ListBuckets', () => {
  it('lists', () => {
    const buckets = [
      { name: 'one', creationDate },
      { name: 'two', creationDate: 0, region: 'eu' },
    ];
    expect(bucketList.write({ owner, buckets }, namespace)).toBe(golden`
      <ListAllMyBucketsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Owner><ID>p1</ID><DisplayName>Project &amp; Co</DisplayName></Owner>
        <Buckets>
          <Bucket><Name>one</Name><CreationDate>2026-11-20T10:00:00.007Z</CreationDate></Bucket>
          <Bucket><Name>two</Name><CreationDate>1970-01-01T00:00:00.000Z</CreationDate><BucketRegion>eu</BucketRegion></Bucket>
        </Buckets>
      </ListAllMyBucketsResult>`);
  });

  it('lists a page', () => {
    expect(bucketList.write({ owner, buckets: [], continuationToken: 'dG9rZW4', prefix: 'o' }, namespace)).toBe(golden`
      <ListAllMyBucketsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Owner><ID>p1</ID><DisplayName>Project &amp; Co</DisplayName></Owner>
        <Buckets/>
        <ContinuationToken>dG9rZW4</ContinuationToken><Prefix>o</Prefix>
      </ListAllMyBucketsResult>`);
  });
});

describe('GetBucketLocation', () => {
  it('names the region, or nothing', () => {
    expect(locationConstraint.write('eu-west-1', namespace)).toBe(
      golden`<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/">eu-west-1</LocationConstraint>`,
    );
    expect(locationConstraint.write('', namespace)).toBe(
      golden`<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`,
    );
  });
});

describe('CreateBucketConfiguration', () => {
  const read = (inner: string) =>
    bodyReader(createBucket)(`<CreateBucketConfiguration xmlns="${namespace}">${inner}</CreateBucketConfiguration>`);

  it('may name a region and tags', async () => {
    expect(await read('<LocationConstraint>eu</LocationConstraint>')).toEqual({ locationConstraint: 'eu' });
    expect(await read('')).toEqual({});
    expect(await read('<LocationConstraint/>')).toEqual({ locationConstraint: '' });
    expect(await read('<Tags><Tag><Key>k</Key><Value>v</Value></Tag></Tags>')).toEqual({
      tags: [{ key: 'k', value: 'v' }],
    });
  });

  it.each([
    ['<Location><Type>AvailabilityZone</Type></Location>', 'NotImplemented'],
    ['<Bucket><Type>Directory</Type></Bucket>', 'NotImplemented'],
    ['<Other/>', 'MalformedXML'],
    ['<LocationConstraint>a</LocationConstraint><LocationConstraint>b</LocationConstraint>', 'MalformedXML'],
    ['<Tags><Tag><Key></Key><Value/></Tag></Tags>', 'InvalidTag'],
  ])('%s → %s', async (inner, code) => {
    await expect(read(inner)).rejects.toMatchObject({ code });
  });
});

describe('VersioningConfiguration', () => {
  const read = (inner: string) =>
    readDocument(`<VersioningConfiguration>${inner}</VersioningConfiguration>`, versioning);

  it.each([
    ['<Status>Enabled</Status>', 'Enabled'],
    ['<MfaDelete>Disabled</MfaDelete><Status>Suspended</Status>', 'Suspended'],
  ])('%s → %s', (inner, status) => {
    expect(read(inner)).toBe(status);
  });

  it.each([
    ['', 'MalformedXML'],
    ['<Status/>', 'MalformedXML'],
    ['<Status>enabled</Status>', 'MalformedXML'],
    ['<Status>Disabled</Status>', 'MalformedXML'],
    ['<Status>Enabled</Status><Status>Suspended</Status>', 'MalformedXML'],
    ['<Status>Enabled</Status><Other/>', 'MalformedXML'],
    ['<Status>Enabled</Status><MfaDelete>No</MfaDelete>', 'MalformedXML'],
    ['<Status>Enabled</Status><MfaDelete>Enabled</MfaDelete>', 'NotImplemented'],
  ])('%s → %s', (inner, code) => {
    expect(codeOf(() => read(inner))).toBe(code);
  });

  it('is empty for a bucket that never had versioning', () => {
    expect(versioning.write(undefined, namespace)).toBe(
      golden`<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`,
    );
    expect(versioning.write('Suspended', namespace)).toBe(golden`
      <VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Status>Suspended</Status><MfaDelete>Disabled</MfaDelete>
      </VersioningConfiguration>`);
  });
});
