import { expect, it } from 'vitest';
import * as access from '../../console/s3/access.ts';
import { getAccount, getQuota } from '../../console/s3/account.ts';
import * as buckets from '../../console/s3/buckets.ts';
import { S3Client } from '../../console/s3/client.ts';
import { getCors, putCors } from '../../console/s3/cors.ts';
import { getLifecycle, putLifecycle, type LifecycleRule } from '../../console/s3/lifecycle.ts';
import * as monitoring from '../../console/s3/monitoring.ts';
import * as multipart from '../../console/s3/multipart.ts';
import { createFolder, deleteObjects } from '../../console/s3/objects.ts';
import { importSecret } from '../../console/s3/secret-key.ts';
import { getTags, putTags } from '../../console/s3/tags.ts';
import { getWebsite, putWebsite, type Website } from '../../console/s3/website.ts';
import { alice } from '../support/programs/server.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

/** Signs in as a page does, without a browser. */
async function signedIn(): Promise<S3Client> {
  const credentials = { accessKeyId: alice.accessKeyId, secret: await importSecret(alice.secretAccessKey) };
  return new S3Client({ endpoint: service.url, region: 'us-east-1', credentials });
}

it('every document that the console sends, the service returns as it was', async () => {
  const client = await signedIn();
  const bucket = `exchanged-${process.pid}`;
  const place = { bucket, key: 'a & b' };
  await buckets.createBucket(client, bucket, 'us-east-1');
  expect((await buckets.listBuckets(client)).map(({ name }) => name)).toContain(bucket);
  expect(await getAccount(client)).toMatchObject({ user: 'alice', project: { email: 'main@example.test' } });
  expect(await getQuota(client, bucket)).toMatchObject({ bytesOfVersions: 0, bytesBesides: 0, objects: 0 });

  expect(await buckets.getVersioning(client, bucket)).toBe('Off');
  await buckets.putVersioning(client, bucket, 'Enabled');
  expect(await buckets.getVersioning(client, bucket)).toBe('Enabled');
  await buckets.putEncryption(client, bucket, true);
  expect(await buckets.getEncryption(client, bucket)).toBe(true);

  const rules = [
    { origins: ['*'], methods: ['GET', 'PUT'], expose: ['ETag'], maxAge: 60 },
    { id: 'r', origins: ['http://*'], methods: ['HEAD'] },
  ];
  await putCors(client, bucket, rules);
  expect(await getCors(client, bucket)).toEqual(rules);

  const tags = [
    { key: 'größe', value: '' },
    { key: 'z', value: 'a + b' },
  ];
  await putTags(client, { bucket }, tags);
  expect(await getTags(client, { bucket })).toEqual(expect.arrayContaining(tags));

  const redirect = {
    prefix: 'old/',
    errorCode: '404',
    protocol: 'https',
    host: 'a.example',
    replacePrefix: '',
    replaceKey: '',
    code: '302',
  };
  const pages: Website = {
    kind: 'pages',
    index: 'i.html',
    error: 'e.html',
    rules: [redirect, { ...redirect, prefix: '', errorCode: '', code: '', replacePrefix: undefined, replaceKey: 'k' }],
  };
  for (const website of [pages, { kind: 'redirect', host: 'b.example', protocol: '' } as const]) {
    await putWebsite(client, bucket, website);
    expect(await getWebsite(client, bucket)).toEqual(website);
  }

  const simple: LifecycleRule = {
    kind: 'simple',
    name: 'one',
    prefix: 'a&b/',
    days: 3,
    noncurrentDays: 4,
    isEnabled: false,
  };
  await putLifecycle(client, bucket, [simple]);
  expect(await getLifecycle(client, bucket)).toEqual([simple]);
  const other =
    '<Rule><ID>two</ID><Filter><And><Prefix>p&amp;q</Prefix><Tag><Key>k</Key><Value>v</Value></Tag></And></Filter>' +
    '<Status>Enabled</Status><Expiration><Days>1</Days></Expiration></Rule>';
  const query = { lifecycle: '' };
  const body = `<LifecycleConfiguration>${other}</LifecycleConfiguration>`;
  await client.send({ method: 'PUT', bucket, query, body });
  const [kept] = await getLifecycle(client, bucket);
  expect(kept).toMatchObject({ kind: 'other', name: 'two', isEnabled: true });
  await putLifecycle(client, bucket, [simple, { ...kept!, isEnabled: false }]);
  const sent = await (await client.send({ method: 'GET', bucket, query })).text();
  expect(sent).toContain(other.replace('Enabled', 'Disabled'));

  await createFolder(client, bucket, place.key);
  const acl = await access.getAcl(client, place);
  const grants = [
    { grantee: { kind: 'everybody' }, permission: 'READ' },
    { grantee: { kind: 'signed-in' }, permission: 'READ_ACP' },
    { grantee: { kind: 'id', id: acl.owner.id, name: acl.owner.name }, permission: 'FULL_CONTROL' },
  ] as const;
  await access.putAcl(client, place, { ...acl, grants });
  expect((await access.getAcl(client, place)).grants).toEqual(expect.arrayContaining([...grants]));
  const link = await access.createPublicLink(client, place, 60);
  expect(link.url).toContain('/_public/');
  expect(await access.listPublicLinks(client, place)).toMatchObject([{ id: link.id, expires: link.expires }]);
  const block = {
    blockPublicAcls: true,
    ignorePublicAcls: false,
    blockPublicPolicy: true,
    restrictPublicBuckets: false,
  };
  await access.putPublicAccessBlock(client, bucket, block);
  expect(await access.getPublicAccessBlock(client, bucket)).toEqual(block);

  const uploadId = await multipart.createMultipartUpload(client, bucket, 'parts', {});
  const part = await client.send({
    method: 'PUT',
    bucket,
    key: 'parts',
    query: { uploadId, partNumber: '1' },
    body: 'x',
  });
  const etag = part.headers.get('etag')!.replaceAll('"', '');
  expect(await multipart.listParts(client, bucket, 'parts', uploadId)).toEqual([{ number: 1, size: 1, etag }]);
  await multipart.completeMultipartUpload(
    client,
    { bucket, key: 'parts', uploadId },
    [{ number: 1, size: 1, etag }],
    {},
  );

  const { markers, undeleted } = await deleteObjects(client, bucket, [
    { key: place.key },
    { key: 'parts' },
    { key: 'control \u0001' },
  ]);
  expect([markers.map(({ key }) => key), undeleted]).toEqual([[place.key, 'parts', 'control \u0001'], []]);
});

it('alarms are returned as the console has set them', async () => {
  const client = await signedIn();
  const bucket = `alarmed-${process.pid}`;
  await buckets.createBucket(client, bucket, '');
  await monitoring.putMonitoring(client, bucket, true);
  expect(await monitoring.getMonitoring(client, bucket)).toBe(true);
  const alarm: monitoring.AlarmSettings = {
    name: 'full <&>',
    description: '',
    metric: 'NumberOfObjects',
    statistic: 'Maximum',
    comparison: 'GreaterThanThreshold',
    threshold: 1.5e9,
    period: 300,
    evaluationPeriods: 2,
    datapointsToAlarm: 1,
    missingData: 'ignore',
    actionsEnabled: false,
    actions: { OK: [], ALARM: ['log:'], INSUFFICIENT_DATA: [] },
  };
  await monitoring.putAlarm(client, bucket, alarm);
  expect(await monitoring.listAlarms(client, bucket)).toMatchObject([alarm]);
  expect((await monitoring.getAlarmHistory(client, bucket, alarm.name)).events.length).toBeGreaterThan(0);
  const asked = { metric: 'NumberOfObjects', statistic: 'Average', period: 300, start: 0, end: 300_000 } as const;
  expect((await monitoring.getMetricData(client, bucket, asked)).current.value).toBe(0);
});
