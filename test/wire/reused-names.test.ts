import { describe, expect, it } from 'vitest';
import { expectError } from '../support/clients/expect-error.ts';
import { md5Tag } from '../support/storage/objects.ts';
import { PublicLinkClient } from '../support/storage/public-links.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { accounts } from '../support/programs/server.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { anonymous, presigned, type Unsigned } from '../support/clients/signer.ts';
import { presignedV2 } from '../support/clients/signer-v2.ts';
import { TestUpload } from '../support/storage/uploads.ts';

/** A name that one project gives back and another one takes: nothing of the former bucket is in the new one, and no way leads in. */

const service = serviceUnderTest();
const stranger = { key: service.bob };
const origin = 'https://app.example.com';

/** The settings of alice's bucket, and the expected error for bob's bucket of the same name. */
const settings: readonly (readonly [query: string, document: string, status: number, code: string])[] = [
  [
    'cors',
    `<CORSConfiguration><CORSRule><AllowedOrigin>${origin}</AllowedOrigin><AllowedMethod>GET</AllowedMethod>` +
      '</CORSRule></CORSConfiguration>',
    404,
    'NoSuchCORSConfiguration',
  ],
  [
    'lifecycle',
    '<LifecycleConfiguration><Rule><Status>Enabled</Status><Filter/><Expiration><Days>1</Days></Expiration>' +
      '</Rule></LifecycleConfiguration>',
    404,
    'NoSuchLifecycleConfiguration',
  ],
  [
    'website',
    '<WebsiteConfiguration><IndexDocument><Suffix>key</Suffix></IndexDocument></WebsiteConfiguration>',
    404,
    'NoSuchWebsiteConfiguration',
  ],
  ['tagging', '<Tagging><TagSet><Tag><Key>of</Key><Value>alice</Value></Tag></TagSet></Tagging>', 404, 'NoSuchTagSet'],
  ['monitoring', '<MonitoringConfiguration><Status>Enabled</Status></MonitoringConfiguration>', 200, ''],
  [
    'alarm&name=of-alice',
    '<Alarm><Metric>NumberOfObjects</Metric><Statistic>Average</Statistic>' +
      '<ComparisonOperator>GreaterThanThreshold</ComparisonOperator><Threshold>1</Threshold>' +
      '<Period>300</Period><EvaluationPeriods>1</EvaluationPeriods></Alarm>',
    404,
    'NoSuchAlarm',
  ],
  ['versioning', '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>', 200, ''],
];

const ok = async (answer: Promise<RawResponse>, status = 200): Promise<RawResponse> => {
  const response = await answer;
  expect(response.status, response.text).toBe(status);
  return response;
};

describe('a bucket whose name was that of another project’s', () => {
  it('has none of its settings, grants, versions and uploads, and none of its URLs, links and pages', async () => {
    const bucket = service.freeName();
    const path = `/${bucket}`;
    const key = `${path}/key`;
    const put = (query: string, body: string): Promise<RawResponse> =>
      service.send({ method: 'PUT', path, query, body });

    // Alice opens her bucket in every way there is, and empties and deletes it.
    await ok(service.send({ method: 'PUT', path }));
    for (const [query, document] of settings) await ok(put(query, document));
    const statement = { Effect: 'Allow', Principal: '*', Action: 's3:*' };
    const policy = { Statement: { ...statement, Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`] } };
    await ok(put('policy', JSON.stringify(policy)), 204);
    await ok(service.send({ method: 'PUT', path, query: 'acl', headers: { 'x-amz-acl': 'public-read-write' } }));
    const put1 = { method: 'PUT', path: key, headers: { 'x-amz-acl': 'public-read' }, body: 'of alice' };
    const version = (await ok(service.send(put1))).header('x-amz-version-id')!;
    const link = await new PublicLinkClient(service).made(bucket, 'key');
    const upload = await TestUpload.begin(service.client, bucket, 'key');
    await upload.part(1, 'of alice');
    const requests: readonly Unsigned[] = [
      { path: key },
      { path: key, query: `versionId=${version}` },
      { path },
      { path, query: 'versions' },
      { path, query: 'policy' },
      { method: 'PUT', path: key, body: 'of alice' },
      { method: 'DELETE', path: key },
      { method: 'DELETE', path: key, query: `versionId=${version}` },
      { method: 'PUT', path: key, query: `partNumber=1&uploadId=${upload.id}`, body: 'of alice' },
    ];
    const urls = requests.flatMap((request) => [
      presigned(service.host, request, { key: service.alice }),
      presignedV2(service.host, request, { key: service.alice }),
    ]);
    await ok(service.send({ method: 'DELETE', path: key, query: `versionId=${version}` }), 204);
    await ok(service.send({ method: 'DELETE', path }), 204);

    // Bob takes the name, and puts an object where hers was.
    await ok(service.send({ method: 'PUT', path }, stranger));
    try {
      const { text: empty } = await ok(service.send({ path, query: 'versions' }, stranger));
      expect(empty).not.toMatch(/<Version>|<DeleteMarker>/);
      expect((await ok(service.send({ path, query: 'uploads' }, stranger))).text).not.toContain('<Upload>');
      const head = await ok(service.send({ method: 'HEAD', path }, stranger));
      expect([head.header('x-rgw-object-count'), head.header('x-rgw-bytes-used')]).toEqual(['0', '0']);
      await ok(service.send({ method: 'PUT', path: key, body: 'of bob' }, stranger));

      for (const [query, , status, code] of settings) {
        const answer = await service.send({ path, query }, stranger);
        if (status === 200) expect((await ok(Promise.resolve(answer))).text).not.toContain('Enabled');
        else expectError(answer, status, code);
      }
      expectError(await service.send({ path, query: 'policy' }, stranger), 404, 'NoSuchBucketPolicy');
      expect((await ok(service.send({ path, query: 'alarms' }, stranger))).text).not.toContain('of-alice');
      const { text: acl } = await ok(service.send({ path, query: 'acl' }, stranger));
      expect(acl).not.toMatch(/AllUsers/);
      expect(acl).not.toContain(accounts[0].id);
      expect(
        (await service.sendUnsigned({ path: key, headers: { origin } })).header('access-control-allow-origin'),
      ).toBe(undefined);
      expectError(await service.send({ path: key, query: `versionId=${version}` }, stranger), 404, 'NoSuchKey');
      expectError(await service.send({ path: key, query: `uploadId=${upload.id}` }, stranger), 404, 'NoSuchUpload');

      // Only bob has access: neither the others' identities nor the permissions granted to them before are valid.
      for (const url of urls) expectError(await exchange(service.url, url), 403, 'AccessDenied');
      for (const request of requests) {
        expectError(await service.send(request), 403, 'AccessDenied');
        expectError(await service.sendUnsigned(request), 403, 'AccessDenied');
      }
      const { pathname } = new URL(link.url);
      expectError(await service.sendUnsigned({ path: pathname }), 404, 'NoSuchPublicLink');
      const page = anonymous(`${bucket}.${service.websiteDomain}`, { path: '/key' });
      expect((await exchange(service.url, page)).status).toBe(404);
      const got = await ok(service.send({ path: key }, stranger));
      expect([got.text, got.header('etag')]).toEqual(['of bob', md5Tag('of bob')]);
    } finally {
      await service.send({ method: 'DELETE', path: key }, stranger);
      await service.send({ method: 'DELETE', path }, stranger);
    }
  });
});
