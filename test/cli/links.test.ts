import { CreateBucketCommand, DeleteObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { administer, runAt } from '../support/storage/administration.ts';
import { bucketName, sdk } from '../support/clients/clients.ts';
import { put, setVersioning } from '../support/storage/objects.ts';
import { PublicLinkClient } from '../support/storage/public-links.ts';
import { exchange } from '../support/clients/raw-client.ts';
import { alice } from '../support/programs/server.ts';
import { serviceUnderTest } from '../support/programs/service-under-test.ts';
import { signed } from '../support/clients/signer.ts';
import { atEachPlace } from './places.ts';

// Each command is a process of its own.
interface Made {
  readonly id: string;
  readonly url: string;
  readonly created: number;
  readonly expires: number;
}

atEachPlace({ isRunning: true }, (at) => {
  let client: S3Client;
  let links: PublicLinkClient;
  let bucket: string;
  beforeEach(async () => {
    const { url } = at();
    const { host } = new URL(url);
    client = sdk({ url }, alice, { maxAttempts: 1 });
    links = new PublicLinkClient({
      ...{ url, host },
      send: (request, signing) => exchange(url, signed(host, request, { key: alice, ...signing })),
    });
    bucket = bucketName('links');
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    onTestFinished(() => client.destroy());
  });

  it('links are made, listed and revoked beside a service that runs', async () => {
    const { place, endpoint } = at();
    await put(client, bucket, 'a/key', 'content');
    const of = [bucket, 'a/key'];

    const made = await administer<Made>(place, 'link', 'create', ...of, '--expires', '60');
    const [base, token] = made.url.split('/_public/');
    expect([base, token]).toEqual([endpoint, expect.stringMatching(/^[-\w]{43}$/)]);
    expect(made.expires - made.created).toBe(60_000);
    expect((await links.follow(made.url)).text).toBe('content');
    const byRequest = await links.made(bucket, 'a/key');
    expect((await links.follow(byRequest.url)).text).toBe('content');

    const listed = await administer<Made[]>(place, 'link', 'list', ...of);
    expect(listed.map(({ id }) => id)).toEqual([made.id, byRequest.id]);
    expect(JSON.stringify(listed)).not.toContain(token);

    const { code, stdout } = await runAt(place, ['link', 'revoke', ...of, made.id]);
    expect([code, stdout]).toEqual([0, `revoked ${made.id}\n`]);
    expect((await links.follow(made.url)).status).toBe(404);
    const again = await runAt(place, ['link', 'revoke', ...of, made.id]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('stillage: NoSuchPublicLink: ')]);
  });

  it('links lead to the version that is named, and none is made to what is not there', async () => {
    const { place } = at();
    await setVersioning(client, bucket, 'Enabled');
    const { VersionId } = await put(client, bucket, 'key', 'first');
    await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
    const { url } = await administer<Made>(place, 'link', 'create', bucket, 'key', '--version-id', VersionId!);
    expect((await links.follow(url)).text).toBe('first');
    for (const [args, code, message] of [
      [[bucket, 'key'], 1, 'NoSuchKey'],
      [[bucket, 'other'], 1, 'NoSuchKey'],
      [['no-such-bucket', 'key'], 1, 'NoSuchBucket'],
      [[bucket, 'key', '--version-id', 'nonsense'], 2, 'Invalid version id specified.'],
      [[bucket, 'key', '--expires', '86401'], 1, 'a link may be valid for 1 to 86400 seconds'],
      [[bucket, 'key', '--expires', '0'], 2, 'Must be a whole number of seconds, at least 1.'],
    ] as const) {
      const refused = await runAt(place, ['link', 'create', ...args]);
      expect([refused.code, refused.stdout]).toEqual([code, '']);
      expect(refused.stderr).toContain(message);
    }
  });
});

const service = serviceUnderTest({ args: ['--public-url', 'https://links.test/'] });

it('begin with the public URL that service and command are told', async () => {
  const bucket = await service.bucket();
  await put(service.client, bucket, 'key', 'content');
  const byRequest = await new PublicLinkClient(service).made(bucket, 'key');
  const of = ['link', 'create', bucket, 'key', '--public-url', 'https://links.test/'];
  const byCommand = await administer<Made>(service.started!.data, ...of);
  for (const { url } of [byRequest, byCommand]) expect(url).toMatch(/^https:\/\/links\.test\/_public\/[-\w]{43}$/);
  const tooLong = ['--expires', '3601', '--limit', 'publicLinkLifetime=3600000'];
  const refused = await runAt(service.started!.data, [...of, ...tooLong]);
  expect([refused.code, refused.stderr]).toEqual([1, 'stillage: a link may be valid for 1 to 3600 seconds\n']);
});
