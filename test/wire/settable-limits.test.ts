import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectError, textOf, textsOf } from '../support/clients/expect-error.ts';
import { formBody, formType, signedV4 } from '../support/clients/form.ts';
import { put } from '../support/storage/objects.ts';
import { PublicLinkClient } from '../support/storage/public-links.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import {
  isExternal,
  serviceUnderTest,
  takesSettings,
  type ServiceUnderTest,
} from '../support/programs/service-under-test.ts';
import { pathOf, signed, type Unsigned } from '../support/clients/signer.ts';
import { TestUpload } from '../support/storage/uploads.ts';

/** Tests every limit at its default, lowered and raised: the maximum is accepted, and one more is refused. */

interface LimitCase {
  /** The default, if it can be tested. */
  readonly standard?: number;
  readonly lowered?: number;
  readonly raised?: number;
  /** A request of this size. */
  readonly send: (service: ServiceUnderTest, bucket: string, size: number) => Promise<RawResponse>;
  /** The response to a request that is too large. */
  readonly status?: number;
  readonly code: string;
}

const second = 1000;
const day = 24 * 60 * 60;
const repeated = (text: string, count: number): string => text.repeat(count);
const padded = (document: string, size: number): string => document + ' '.repeat(size - document.length);
const numbered = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** Sends the document of a sub-resource of the bucket. */
const document =
  (query: string, body: (size: number) => string): LimitCase['send'] =>
  (service, bucket, size) =>
    service.send({ method: 'PUT', path: `/${bucket}`, query, body: body(size) });

const tag = (key: string, value: string): string => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`;
const tagging = (tags: string): string => `<Tagging><TagSet>${tags}</TagSet></Tagging>`;
const objectTags =
  (tags: (size: number) => string): LimitCase['send'] =>
  async (service, bucket, size) => {
    await put(service.client, bucket, 'tagged', 'x');
    const path = `/${bucket}/tagged`;
    return service.send({ method: 'PUT', path, query: 'tagging', body: tagging(tags(size)) });
  };

const grant =
  '<Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="Group">' +
  '<URI>http://acs.amazonaws.com/groups/s3/LogDelivery</URI></Grantee><Permission>READ</Permission></Grant>';
const corsRule = '<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>';
const lifecycleRule =
  '<Rule><Filter/><Status>Enabled</Status><Expiration><Days>30</Days></Expiration><ID>n</ID></Rule>';
const routingRule = '<RoutingRule><Redirect><HostName>example.test</HostName></Redirect></RoutingRule>';
const pages = '<IndexDocument><Suffix>index.html</Suffix></IndexDocument>';
const policy = (bucket: string): string =>
  JSON.stringify({
    Statement: [{ Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${bucket}/x` }],
  });
const deletion = (size: number): string =>
  `<Delete>${numbered(size)
    .map((at) => `<Object><Key>${at}</Key></Object>`)
    .join('')}</Delete>`;

const cases: Readonly<Record<string, LimitCase>> = {
  keyBytes: {
    ...{ standard: 1024, lowered: 30, code: 'InvalidObjectName' },
    send: (service, bucket, size) => service.send({ method: 'PUT', path: `/${bucket}/${'k'.repeat(size)}`, body: '' }),
  },
  userMetadataBytes: {
    ...{ standard: 2048, lowered: 20, raised: 4000, code: 'MetadataTooLarge' },
    send: (service, bucket, size) => {
      const headers = { 'x-amz-meta-a': 'v'.repeat(size - 1) };
      return service.send({ method: 'PUT', path: `/${bucket}/key`, headers, body: '' });
    },
  },
  headerSectionBytes: {
    ...{ standard: 8192, lowered: 2000, raised: 12_000, code: 'RequestHeaderSectionTooLarge' },
    send: (service, _, size) => {
      const others = 'host: \r\n'.length + service.host.length + 'x-padding: \r\n'.length;
      return service.sendUnsigned({
        path: '/_stillage/health',
        headers: { 'x-padding': 'x'.repeat(size - others) },
      });
    },
  },
  requestTargetBytes: {
    ...{ standard: 16_384, lowered: 2000, raised: 20_000, code: 'InvalidURI' },
    send: (service, bucket, size) => {
      const query = `prefix=${'x'.repeat(size - `/${bucket}?prefix=`.length)}`;
      return service.send({ path: `/${bucket}`, query });
    },
  },
  formBytes: {
    ...{ standard: 20_480, lowered: 5000, raised: 30_000, code: 'MaxPostPreDataLengthExceeded' },
    send: (service, bucket, size) => {
      const signature = signedV4(service.alice, [{ bucket }, { key: 'k' }]);
      const form = (filler: number, content: string): Buffer =>
        formBody([['key', 'k'], ['x-ignore-filler', 'x'.repeat(filler)], ...signature], { content });
      const body = form(size - form(0, '').length, 'x'.repeat(100));
      return service.sendUnsigned({
        ...{ method: 'POST', path: `/${bucket}`, body },
        headers: { 'content-type': formType },
      });
    },
  },
  bucketsPerProject: {
    ...{ lowered: 4, raised: 52, code: 'TooManyBuckets' },
    send: async (service, _, size) => {
      const names = numbered(size).map(() => service.freeName());
      let answer: RawResponse | undefined;
      // One is there already.
      for (const name of names.slice(1)) answer = await service.send({ method: 'PUT', path: `/${name}` });
      return answer!;
    },
  },
  tagsPerObject: {
    ...{ standard: 10, lowered: 3, raised: 50, code: 'InvalidTag' },
    send: objectTags((size) =>
      numbered(size)
        .map((at) => tag(`k${at}`, 'v'))
        .join(''),
    ),
  },
  tagsPerBucket: {
    ...{ standard: 50, lowered: 3, code: 'InvalidTag' },
    send: document('tagging', (size) =>
      tagging(
        numbered(size)
          .map((at) => tag(`k${at}`, 'v'))
          .join(''),
      ),
    ),
  },
  tagKeyCharacters: {
    ...{ standard: 128, lowered: 5, raised: 512, code: 'InvalidTag' },
    send: objectTags((size) => tag('𐐀'.repeat(size), 'v')),
  },
  tagValueCharacters: {
    ...{ standard: 256, lowered: 5, raised: 1024, code: 'InvalidTag' },
    send: objectTags((size) => tag('k', '𐐀'.repeat(size))),
  },
  grantsPerAcl: {
    ...{ standard: 100, lowered: 2, raised: 200, code: 'InvalidRequest' },
    send: async (service, bucket, size) => {
      const owner = textOf((await service.send({ path: `/${bucket}`, query: 'acl' })).text, 'ID')!;
      const body =
        `<AccessControlPolicy><Owner><ID>${owner}</ID></Owner>` +
        `<AccessControlList>${repeated(grant, size)}</AccessControlList></AccessControlPolicy>`;
      return service.send({ method: 'PUT', path: `/${bucket}`, query: 'acl', body });
    },
  },
  corsRules: {
    ...{ standard: 100, lowered: 2, raised: 200, code: 'InvalidRequest' },
    send: document('cors', (size) => `<CORSConfiguration>${repeated(corsRule, size)}</CORSConfiguration>`),
  },
  lifecycleRules: {
    ...{ standard: 1000, lowered: 2, code: 'MalformedXML' },
    send: document('lifecycle', (size) => {
      const rules = numbered(size).map((at) => lifecycleRule.replace('<ID>n</ID>', `<ID>${at}</ID>`));
      return `<LifecycleConfiguration>${rules.join('')}</LifecycleConfiguration>`;
    }),
  },
  routingRules: {
    ...{ standard: 50, lowered: 2, raised: 100, code: 'InvalidRequest' },
    send: document('website', (size) => {
      const rules = `<RoutingRules>${repeated(routingRule, size)}</RoutingRules>`;
      return `<WebsiteConfiguration>${pages}${rules}</WebsiteConfiguration>`;
    }),
  },
  keysPerDelete: {
    ...{ standard: 1000, lowered: 2, raised: 1100, code: 'MalformedXML' },
    send: (service, bucket, size) =>
      service.send({ method: 'POST', path: `/${bucket}`, query: 'delete', body: deletion(size) }),
  },
  partsPerUpload: {
    ...{ standard: 10_000, lowered: 2, code: 'InvalidArgument' },
    send: async (service, bucket, size) => {
      const { id } = await TestUpload.begin(service.client, bucket, 'parts');
      const query = `partNumber=${size}&uploadId=${id}`;
      return service.send({ method: 'PUT', path: `/${bucket}/parts`, query, body: 'x' });
    },
  },
  documentBytes: {
    ...{ standard: 1024 * 1024, lowered: 5000, raised: 2 * 1024 * 1024, code: 'MaxMessageLengthExceeded' },
    send: document('versioning', (size) =>
      padded('<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>', size),
    ),
  },
  policyBytes: {
    ...{ standard: 20 * 1024, lowered: 2000, raised: 50_000, code: 'PolicyTooLarge' },
    send: (service, bucket, size) =>
      service.send({ method: 'PUT', path: `/${bucket}`, query: 'policy', body: padded(policy(bucket), size) }),
  },
  corsBytes: {
    ...{ standard: 64 * 1024, lowered: 2000, raised: 100_000, code: 'MaxMessageLengthExceeded' },
    send: document('cors', (size) => padded(`<CORSConfiguration>${corsRule}</CORSConfiguration>`, size)),
  },
  websiteBytes: {
    ...{ standard: 128 * 1024, lowered: 2000, raised: 200_000, code: 'MaxMessageLengthExceeded' },
    send: document('website', (size) => padded(`<WebsiteConfiguration>${pages}</WebsiteConfiguration>`, size)),
  },
  completeDocumentBytes: {
    ...{ standard: 4 * 1024 * 1024, lowered: 2000, code: 'MaxMessageLengthExceeded' },
    send: async (service, bucket, size) => {
      const upload = await TestUpload.begin(service.client, bucket, 'parts');
      const { ETag } = await upload.part(1, 'x');
      const part = `<Part><PartNumber>1</PartNumber><ETag>${ETag}</ETag></Part>`;
      const body = padded(`<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`, size);
      return service.send({ method: 'POST', path: `/${bucket}/parts`, query: `uploadId=${upload.id}`, body });
    },
  },
  deleteDocumentBytes: {
    ...{ standard: 2 * 1024 * 1024, lowered: 2000, raised: 3 * 1024 * 1024, code: 'MaxMessageLengthExceeded' },
    send: (service, bucket, size) =>
      service.send({ method: 'POST', path: `/${bucket}`, query: 'delete', body: padded(deletion(1), size) }),
  },
  presignedLifetime: {
    ...{ standard: 7 * day, lowered: 60, raised: 30 * day, status: 403, code: 'AccessDenied' },
    send: (service, bucket, size) =>
      service.sendPresigned({ path: `/${bucket}` }, { parameters: { 'X-Amz-Expires': String(size) } }),
  },
  publicLinkLifetime: {
    ...{ standard: day, lowered: 60, raised: 7 * day, code: 'InvalidArgument' },
    send: async (service, bucket, size) => {
      await put(service.client, bucket, 'key', 'x');
      return new PublicLinkClient(service).create(bucket, 'key', { expires: String(size) });
    },
  },
};

/** Limits that are set in milliseconds, and tried in seconds. */
const inSeconds: ReadonlySet<string> = new Set(['presignedLifetime', 'publicLinkLifetime']);

/** The settings of a service, of which every limit has its lowered, or its raised value. */
function settingsOf(which: 'lowered' | 'raised'): string {
  return Object.entries(cases)
    .flatMap(([name, { [which]: value }]) => (value === undefined ? [] : [[name, value] as const]))
    .map(([name, value]) => `${name}=${inSeconds.has(name) ? value * second : value}`)
    .join(',');
}

const ways = takesSettings ? (['standard', 'lowered', 'raised'] as const) : (['standard'] as const);

describe.each(ways)('limits: %s', (which) => {
  const tried = Object.entries(cases).filter((entry) => entry[1][which] !== undefined);
  const others = which === 'lowered' ? 'minimumPartBytes=1,keysPerPage=2,clockSkew=120000' : 'clockSkew=3600000';
  const service = serviceUnderTest(
    which === 'standard' ? undefined : { args: ['--limit', `${settingsOf(which)},${others}`] },
  );

  it.each(tried)('%s', async (_, { [which]: limit, send, status = 400, code }) => {
    const bucket = await service.bucket();
    const at = await send(service, bucket, limit!);
    expect(at.status, at.text).toBeLessThan(300);
    expectError(await send(service, bucket, limit! + 1), status, code);
  });

  it('clockSkew', async () => {
    const skew = { standard: 15 * 60, lowered: 2 * 60, raised: 60 * 60 }[which];
    // Farther from the edge than a slow machine takes for a request.
    const margin = 60;
    for (const sign of [-1, 1]) {
      const at = (off: number) => service.send({ path: '/' }, { time: Date.now() + sign * off * second });
      expect((await at(skew - margin)).status).toBe(200);
      const tooFar = await at(skew + margin);
      expectError(tooFar, 403, 'RequestTimeTooSkewed');
      expect(textOf(tooFar.text, 'MaxAllowedSkewMilliseconds')).toBe(String(skew * second));
    }
    const early = (off: number): Promise<RawResponse> =>
      service.sendPresigned({ path: '/' }, { time: Date.now() + off * second, parameters: { 'X-Amz-Expires': '60' } });
    expect((await early(skew - margin)).status).toBe(200);
    expectError(await early(skew + margin), 403, 'AccessDenied');
  });

  it('publicLinkLifetime is how long a link lasts if nothing is said', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'x');
    const { created, expires } = await new PublicLinkClient(service).made(bucket, 'key');
    expect(expires - created).toBe(cases['publicLinkLifetime']![which]! * second);
  });

  it('keysPerPage', async () => {
    const most = which === 'lowered' ? 2 : 1000;
    const bucket = await service.bucket();
    for (const key of ['a', 'b', 'c']) await put(service.client, bucket, key, 'x');
    for (const asked of ['', `&max-keys=${most}`, `&max-keys=${most + 1}`]) {
      const { text } = await service.send({ path: `/${bucket}`, query: `list-type=2${asked}` });
      expect(textOf(text, 'MaxKeys')).toBe(String(most));
      expect(textsOf(text, 'Key')).toEqual(['a', 'b', 'c'].slice(0, most));
    }
  });
});

describe.runIf(takesSettings)('keyBytes=30', () => {
  const lowered = serviceUnderTest({ args: ['--limit', 'keyBytes=30'] });
  const long = 'ü'.repeat(15);

  it.each<[string, (bucket: string, key: string) => Promise<RawResponse>]>([
    ['PutObject', (bucket, key) => lowered.send({ method: 'PUT', path: pathOf(bucket, key), body: 'x' })],
    [
      'CopyObject',
      (bucket, key) =>
        lowered.send({ method: 'PUT', path: pathOf(bucket, key), headers: { 'x-amz-copy-source': `${bucket}/from` } }),
    ],
    [
      'CreateMultipartUpload',
      (bucket, key) => lowered.send({ method: 'POST', path: pathOf(bucket, key), query: 'uploads' }),
    ],
    [
      'RenameObject',
      (bucket, key) =>
        lowered.send({
          ...{ method: 'PUT', path: pathOf(bucket, key), query: 'renameObject' },
          headers: { 'x-amz-rename-source': 'from' },
        }),
    ],
    [
      'PostObject',
      (bucket, key) => {
        const fields = signedV4(lowered.alice, [{ bucket }, ['starts-with', '$key', '']]);
        const body = formBody([['key', key], ...fields], { content: 'x' });
        const headers = { 'content-type': formType };
        return lowered.sendUnsigned({ method: 'POST', path: `/${bucket}`, headers, body });
      },
    ],
  ])('holds for what %s writes', async (_, write) => {
    const bucket = await lowered.bucket();
    await put(lowered.client, bucket, 'from', 'x');
    const refused = await write(bucket, `${long}x`);
    expectError(refused, 400, 'InvalidObjectName');
    expect(textOf(refused.text, 'Message')).toContain('30 bytes');
    const { text } = await lowered.send({ path: `/${bucket}`, query: 'list-type=2' });
    expect(textsOf(text, 'Key')).toEqual(['from']);
    expect((await write(bucket, long)).status).toBeLessThan(300);
  });
});

it.runIf(!isExternal)('keyBytes leaves longer keys that are there to be read and deleted', async () => {
  const data = await mkdtemp(join(tmpdir(), 'stillage-test-'));
  onTestFinished(() => rm(data, { recursive: true, force: true }));
  const path = `/bucket/${'k'.repeat(31)}`;
  const send = ({ url }: Service, request: Unsigned) =>
    exchange(url, signed(new URL(url).host, request, { key: alice }));

  const before = await startService({ data });
  await send(before, { method: 'PUT', path: '/bucket' });
  expect((await send(before, { method: 'PUT', path, body: 'content' })).status).toBe(200);
  await before.stop();

  const after = await startService({ data, args: ['--limit', 'keyBytes=30'] });
  onTestFinished(() => after.kill());
  expectError(await send(after, { method: 'PUT', path, body: 'other' }), 400, 'InvalidObjectName');
  expect((await send(after, { path })).text).toBe('content');
  expect((await send(after, { method: 'DELETE', path })).status).toBe(204);
  expectError(await send(after, { path }), 404, 'NoSuchKey');
});
