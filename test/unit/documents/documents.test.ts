import { describe, expect, it } from 'vitest';
import { operations } from '../../../functions/operations.ts';
import type { DocumentBody } from '../../../shared/protocol/operation.ts';
import { account, bucketQuota } from '../../../shared/documents/account.ts';
import { encryption, ownershipControls, publicAccessBlock } from '../../../shared/documents/bucket-settings.ts';
import { publicLink, publicLinks } from '../../../shared/documents/public-links.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { bodyReader, documentReaders } from './document-readers.ts';
import { golden, namespace } from '../xml/golden.ts';
import { mutationsOf } from './mutations.ts';

/**
 * What readers make of documents in which one thing is wrong: for each element, which changes are accepted, and the
 * error of each of the others. Goldens, since clients see them. `npx vitest run test/unit/documents -u` writes them again.
 */
describe('documents of requests', () => {
  it.each(Object.entries(documentReaders))('%s is read strictly', async (name, { samples, read }) => {
    const lines: string[] = [];
    for (const sample of samples) {
      const outcomes = new Map<string, string[]>();
      for (const { path, change, document } of mutationsOf(sample)) {
        const outcome = await outcomeOf(async () => read(document));
        const line = `${path}: ${outcome}: `;
        outcomes.set(line, [...(outcomes.get(line) ?? []), change]);
      }
      lines.push(sample, ...[...outcomes].map(([line, changes]) => `  ${line}${changes.join(', ')}`), '');
    }
    await expect(lines.join('\n')).toMatchFileSnapshot(`golden/${name}.txt`);
  });

  it('are all in the table: each operation that reads one accepts a sample', async () => {
    const samples = Object.values(documentReaders).flatMap((reader) => reader.samples);
    const without: string[] = [];
    for (const { name, body } of operations.values()) {
      // A policy is JSON, and so is all of CloudTrail.
      if (typeof body !== 'object' || name === 'PutBucketPolicy' || name === 'LookupEvents') continue;
      const read = bodyReader({ body: body as DocumentBody<unknown> });
      const outcomes = await Promise.all(samples.map((sample) => outcomeOf(() => read(sample))));
      if (!outcomes.includes('ok')) without.push(name);
    }
    expect(without).toEqual([]);
  });

  it.each(Object.entries(documentReaders))('%s is written as it was read', async (_, { samples, read, write }) => {
    for (const sample of write === undefined ? [] : samples) {
      if ((await outcomeOf(async () => read(sample))) !== 'ok') continue;
      const value = (await read(sample)) as never;
      expect(await read(write!(value))).toEqual(value);
    }
  });
});

async function outcomeOf(read: () => Promise<unknown>): Promise<string> {
  try {
    await read();
    return 'ok';
  } catch (error) {
    if (error instanceof S3Error) return error.code;
    throw error;
  }
}

const created = Date.UTC(2026, 10, 20, 10);
const link = { id: 'l1', versionId: 'v&1', created, expires: created + 1 };

/** Documents that have no test of their own. */
it.each([
  [
    account.write(
      {
        project: { id: 'p1', email: 'a@b.example', displayName: 'A & B' },
        user: 'user',
        accessKeyId: 'key',
        bucketCount: 1,
        bucketLimit: 100,
      },
      namespace,
    ),
    golden`
      <Account xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Project><Id>p1</Id><Email>a@b.example</Email><DisplayName>A &amp; B</DisplayName></Project>
        <User>user</User><AccessKeyId>key</AccessKeyId><BucketCount>1</BucketCount><BucketLimit>100</BucketLimit>
      </Account>`,
  ],
  [
    bucketQuota.write(
      {
        ...{ bytesLimit: 2 ** 50, objectsLimit: 0, bytesOfVersions: 3, objects: 4 },
        ...{ bytesBesides: 5, bytesCounted: 8, isMet: true },
      },
      namespace,
    ),
    golden`
      <BucketQuota xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <BytesLimit>1125899906842624</BytesLimit><ObjectsLimit>0</ObjectsLimit><Bytes>3</Bytes><Objects>4</Objects>
        <BytesBesides>5</BytesBesides><BytesCounted>8</BytesCounted><IsMet>true</IsMet>
      </BucketQuota>`,
  ],
  [
    publicLink.write({ ...link, url: 'https://a.example/?b&c' }, namespace),
    golden`
      <PublicLink xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Id>l1</Id><Url>https://a.example/?b&amp;c</Url>
        <Created>2026-11-20T10:00:00.000Z</Created><Expires>2026-11-20T10:00:00.001Z</Expires>
      </PublicLink>`,
  ],
  [
    publicLinks.write({ marker: '', nextMarker: 'l1', maxLinks: 1, isTruncated: true, links: [link] }, namespace),
    golden`
      <ListPublicLinksResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Marker/><NextMarker>l1</NextMarker><MaxLinks>1</MaxLinks><IsTruncated>true</IsTruncated>
        <PublicLink>
          <Id>l1</Id><VersionId>v&amp;1</VersionId>
          <Created>2026-11-20T10:00:00.000Z</Created><Expires>2026-11-20T10:00:00.001Z</Expires>
        </PublicLink>
      </ListPublicLinksResult>`,
  ],
  [
    publicLinks.write({ marker: 'l1', nextMarker: undefined, maxLinks: 1, isTruncated: false, links: [] }, namespace),
    golden`
      <ListPublicLinksResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Marker>l1</Marker><MaxLinks>1</MaxLinks><IsTruncated>false</IsTruncated>
      </ListPublicLinksResult>`,
  ],
  [
    encryption.write({ algorithm: 'AES256', bucketKeyEnabled: false, blockedTypes: ['SSE-C'] }, namespace),
    golden`
      <ServerSideEncryptionConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Rule>
          <ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault>
          <BucketKeyEnabled>false</BucketKeyEnabled>
          <BlockedEncryptionTypes><EncryptionType>SSE-C</EncryptionType></BlockedEncryptionTypes>
        </Rule>
      </ServerSideEncryptionConfiguration>`,
  ],
  [
    encryption.write({ bucketKeyEnabled: true }, namespace),
    golden`
      <ServerSideEncryptionConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Rule><BucketKeyEnabled>true</BucketKeyEnabled></Rule>
      </ServerSideEncryptionConfiguration>`,
  ],
  [
    publicAccessBlock.write(
      { blockPublicAcls: true, ignorePublicAcls: false, blockPublicPolicy: true, restrictPublicBuckets: false },
      namespace,
    ),
    golden`
      <PublicAccessBlockConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>false</IgnorePublicAcls>
        <BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>false</RestrictPublicBuckets>
      </PublicAccessBlockConfiguration>`,
  ],
  [
    ownershipControls.write('ObjectWriter', namespace),
    golden`
      <OwnershipControls xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        <Rule><ObjectOwnership>ObjectWriter</ObjectOwnership></Rule>
      </OwnershipControls>`,
  ],
])('%s', (written, expected) => {
  expect(written).toBe(expected);
});
