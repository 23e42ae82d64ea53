import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { put, read, versionsOf } from '../support/storage/objects.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

/**
 * Features that the service does not implement. It refuses such a request as a whole, rather than do a part of it. A feature leaves these
 * lists once it is implemented.
 */

const service = serviceUnderTest();

const bucketDocuments = [
  'analytics',
  'inventory',
  'metrics',
  'intelligent-tiering',
  'abac',
  'metadataConfiguration',
  'metadataTable',
];

const objectRequests = [
  ['GET', 'torrent'],
  ['POST', 'select'],
  ['POST', 'restore'],
  ['PUT', 'append'],
  ['POST', 'append'],
  ['PUT', 'encryption'],
] as const;

describe('a sub-resource that is not built', () => {
  it.each(bucketDocuments)('of a bucket answers 501: ?%s', async (query) => {
    const bucket = await service.bucket();
    const response = await service.send({ path: `/${bucket}`, query });
    expectError(response, 501, 'NotImplemented');
  });

  it.each(objectRequests)('of an object answers 501 and changes nothing: %s ?%s', async (method, query) => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const response = await service.send({
      method,
      path: `/${bucket}/key`,
      query,
      ...(method !== 'GET' && { body: 'other' }),
    });
    expectError(response, 501, 'NotImplemented');
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });

  it('is not told to who cannot sign', async () => {
    const bucket = await service.bucket();
    const key = { ...service.alice, secretAccessKey: 'guessed' };
    expectError(await service.send({ path: `/${bucket}`, query: 'analytics' }, { key }), 403, 'SignatureDoesNotMatch');
  });
});

/** Configurations that clients read from every bucket, for which they expect the response of S3 for a feature that was never used. */
describe('a configuration that no bucket has', () => {
  const xmlns = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

  it.each([
    [
      'requestPayment',
      `<RequestPaymentConfiguration ${xmlns}><Payer>BucketOwner</Payer></RequestPaymentConfiguration>`,
    ],
    ['accelerate', `<AccelerateConfiguration ${xmlns}/>`],
    ['logging', `<BucketLoggingStatus ${xmlns}/>`],
    ['notification', `<NotificationConfiguration ${xmlns}/>`],
  ])('is answered by a document: ?%s', async (query, document) => {
    const bucket = await service.bucket();
    const response = await service.send({ path: `/${bucket}`, query });
    expect(response.status).toBe(200);
    expect(response.text).toBe(`<?xml version="1.0" encoding="UTF-8"?>\n${document}`);
    const change = await service.send({ method: 'PUT', path: `/${bucket}`, query, body: document });
    if (query === 'accelerate') expectError(change, 501, 'NotImplemented');
    else expect([change.status, change.text]).toEqual([200, '']);
  });

  it.each([
    ['requestPayment', '<RequestPaymentConfiguration><Payer>Requester</Payer></RequestPaymentConfiguration>'],
    ['accelerate', '<AccelerateConfiguration><Status>Enabled</Status></AccelerateConfiguration>'],
  ])('cannot be set to anything else: ?%s', async (query, body) => {
    const bucket = await service.bucket();
    expectError(await service.send({ method: 'PUT', path: `/${bucket}`, query, body }), 501, 'NotImplemented');
    if (query === 'accelerate') return;
    const malformed = await service.send({ method: 'PUT', path: `/${bucket}`, query, body: '<Other/>' });
    expectError(malformed, 400, 'MalformedXML');
  });

  it('is put as it is by the owner alone', async () => {
    const bucket = await service.bucket();
    for (const query of ['requestPayment', 'logging', 'notification']) {
      const request = { method: 'PUT', path: `/${bucket}`, query, body: '<Other/>' };
      expectError(await service.send(request, { key: service.bob }), 403, 'AccessDenied');
    }
  });

  it.each([['replication', 'ReplicationConfigurationNotFoundError']])(
    'is answered by an error: ?%s',
    async (query, code) => {
      const bucket = await service.bucket();
      expectError(await service.send({ path: `/${bucket}`, query }), 404, code);
      const change = await service.send({ method: 'PUT', path: `/${bucket}`, query, body: '<x/>' });
      expectError(change, 501, 'NotImplemented');
      expectError(await service.send({ method: 'DELETE', path: `/${bucket}`, query }), 501, 'NotImplemented');
      expect((await service.send({ method: 'HEAD', path: `/${bucket}` })).status).toBe(200);
    },
  );

  it('is none of a bucket that is not there, and nothing to strangers', async () => {
    const bucket = await service.bucket();
    for (const query of ['requestPayment', 'replication']) {
      expectError(await service.send({ path: `/${service.freeName()}`, query }), 404, 'NoSuchBucket');
      expectError(await service.send({ path: `/${bucket}`, query }, { key: service.bob }), 403, 'AccessDenied');
    }
  });
});

describe('a header that asks for what is not built', () => {
  const ofUploads = [
    ['x-amz-server-side-encryption', 'aws:kms'],
    ['x-amz-server-side-encryption-aws-kms-key-id', 'key'],
    ['x-amz-write-offset-bytes', '0'],
  ] as const;

  it.each(ofUploads)('answers 501 and stores nothing: %s', async (name, value) => {
    const bucket = await service.bucket();
    const path = `/${bucket}/key`;
    const response = await service.send({ method: 'PUT', path, headers: { [name]: value }, body: 'x' });
    expectError(response, 501, 'NotImplemented');
    const upload = await service.send({ method: 'POST', path, query: 'uploads', headers: { [name]: value } });
    expectError(upload, 501, 'NotImplemented');
    expect(await versionsOf(service.client, bucket)).toEqual([]);
    expect((await service.send({ path: `/${bucket}`, query: 'uploads' })).text).not.toContain('<Upload>');
  });

  it('answers 501 where versions would be deleted without the second factor', async () => {
    const bucket = await service.bucket();
    await put(service.client, bucket, 'key', 'content');
    const headers = { 'x-amz-mfa': 'serial 123456' };
    const response = await service.send({ method: 'DELETE', path: `/${bucket}/key`, headers });
    expectError(response, 501, 'NotImplemented');
    expect(await read(service.client, bucket, 'key')).toBe('content');
  });

  it('is fine if it asks for what is the case anyway', async () => {
    const bucket = service.freeName();
    const headers = { 'x-amz-object-ownership': 'ObjectWriter', 'x-amz-bucket-object-lock-enabled': 'false' };
    expect((await service.send({ method: 'PUT', path: `/${bucket}`, headers })).status).toBe(200);
    const request = { method: 'PUT', path: `/${bucket}/key`, headers: { 'x-amz-acl': 'private' }, body: 'x' };
    expect((await service.send(request)).status).toBe(200);
  });
});

describe('signatures that are not built', () => {
  it.each(['AWS AKALICE:c2lnbmF0dXJl', 'AKALICE:c2lnbmF0dXJl', 'SVC AKALICE:c2lnbmF0dXJl'])(
    'of version 2 are not taken for anonymity: %s',
    async (authorization) => {
      const bucket = await service.bucket();
      const request = { path: `/${bucket}`, headers: { authorization, date: new Date().toUTCString() } };
      const response = await service.sendUnsigned(request);
      expect([403, 501]).toContain(response.status);
    },
  );
});
