import { describe, expect, it } from 'vitest';
import {
  listAllMyBucketsResult,
  locationConstraint,
  readCreateBucketConfiguration,
  readVersioningConfiguration,
  versioningConfiguration,
} from '../../../shared/xml/buckets.ts';
import { codeOf, golden, namespace } from './golden.ts';

const owner = { id: 'p1', displayName: 'Project & Co' };
const creationDate = Date.UTC(2026, 10, 20, 10, 0, 0, 7);

describe('ListBuckets', () => {
  it('lists', () => {
    const buckets = [
      { name: 'one', creationDate },
      { name: 'two', creationDate: 0, region: 'eu' },
    ];
    expect(listAllMyBucketsResult({ owner, buckets }, namespace)).toBe(golden`
      <ListAllMyBucketsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Owner><ID>p1</ID><DisplayName>Project &amp; Co</DisplayName></Owner>
        <Buckets>
          <Bucket><Name>one</Name><CreationDate>2026-11-20T10:00:00.007Z</CreationDate></Bucket>
          <Bucket><Name>two</Name><CreationDate>1970-01-01T00:00:00.000Z</CreationDate><BucketRegion>eu</BucketRegion></Bucket>
        </Buckets>
      </ListAllMyBucketsResult>`);
  });

  it('lists a page', () => {
    expect(listAllMyBucketsResult({ owner, buckets: [], continuationToken: 'dG9rZW4', prefix: 'o' }, namespace))
      .toBe(golden`
      <ListAllMyBucketsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Owner><ID>p1</ID><DisplayName>Project &amp; Co</DisplayName></Owner>
        <Buckets/>
        <ContinuationToken>dG9rZW4</ContinuationToken><Prefix>o</Prefix>
      </ListAllMyBucketsResult>`);
  });
});

describe('GetBucketLocation', () => {
  it('names the region, or nothing', () => {
    expect(locationConstraint('eu-west-1', namespace)).toBe(
      golden`<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/">eu-west-1</LocationConstraint>`,
    );
    expect(locationConstraint('', namespace)).toBe(
      golden`<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`,
    );
  });
});

describe('CreateBucketConfiguration', () => {
  const read = (inner: string) =>
    readCreateBucketConfiguration(
      `<CreateBucketConfiguration xmlns="${namespace}">${inner}</CreateBucketConfiguration>`,
      { tags: 50, keyCharacters: 128, valueCharacters: 256 },
    );

  it('may name a region and tags', () => {
    expect(read('<LocationConstraint>eu</LocationConstraint>')).toEqual({ locationConstraint: 'eu', tags: [] });
    expect(read('')).toEqual({ locationConstraint: undefined, tags: [] });
    expect(read('<LocationConstraint/>')).toEqual({ locationConstraint: undefined, tags: [] });
    expect(read('<Tags><Tag><Key>k</Key><Value>v</Value></Tag></Tags>')).toEqual({
      locationConstraint: undefined,
      tags: [{ key: 'k', value: 'v' }],
    });
  });

  it.each([
    ['<Location><Type>AvailabilityZone</Type></Location>', 'NotImplemented'],
    ['<Bucket><Type>Directory</Type></Bucket>', 'NotImplemented'],
    ['<Other/>', 'MalformedXML'],
    ['<LocationConstraint>a</LocationConstraint><LocationConstraint>b</LocationConstraint>', 'MalformedXML'],
    ['<Tags><Tag><Key></Key><Value/></Tag></Tags>', 'InvalidTag'],
  ])('%s → %s', (inner, code) => {
    expect(codeOf(() => read(inner))).toBe(code);
  });
});

describe('VersioningConfiguration', () => {
  const read = (inner: string) =>
    readVersioningConfiguration(`<VersioningConfiguration>${inner}</VersioningConfiguration>`);

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
    expect(versioningConfiguration(undefined, namespace)).toBe(
      golden`<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`,
    );
    expect(versioningConfiguration('Suspended', namespace)).toBe(golden`
      <VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Status>Suspended</Status><MfaDelete>Disabled</MfaDelete>
      </VersioningConfiguration>`);
  });
});
