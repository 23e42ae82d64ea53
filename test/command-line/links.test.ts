import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { administer } from '../support/administration.ts';
import { put, setVersioning } from '../support/objects.ts';
import { runProgram } from '../support/program.ts';
import { PublicLinkClient } from '../support/public-links.ts';
import { serviceUnderTest } from '../support/service-under-test.ts';

interface Made {
  readonly id: string;
  readonly url: string;
  readonly created: number;
  readonly expires: number;
}

const service = serviceUnderTest({ args: ['--public-url', 'https://links.test/'] });
const links = new PublicLinkClient(service);

it('links are made, listed and revoked beside a service that runs', async () => {
  const { data } = service.started!;
  const bucket = await service.bucket();
  await put(service.client, bucket, 'a/key', 'content');
  const of = [bucket, 'a/key'];

  const made = await administer<Made>(data, 'link', 'create', ...of, '--expires', '60');
  expect(made.url).toMatch(/^http:\/\/127\.0\.0\.1:9000\/_public\/[-\w]{43}$/);
  expect(made.expires - made.created).toBe(60_000);
  expect((await links.follow(made.url)).text).toBe('content');
  const byRequest = await links.made(bucket, 'a/key');
  expect(byRequest.url).toMatch(/^https:\/\/links\.test\/_public\/[-\w]{43}$/);
  const elsewhere = await administer<Made>(data, 'link', 'create', ...of, '--public-url', 'https://links.test/');
  expect(elsewhere.url).toMatch(/^https:\/\/links\.test\/_public\//);

  const listed = await administer<Made[]>(data, 'link', 'list', ...of);
  expect(listed.map(({ id }) => id)).toEqual([made.id, byRequest.id, elsewhere.id]);
  expect(JSON.stringify(listed)).not.toContain(made.url.split('/').at(-1));

  const { code, stdout } = await runProgram(['link', 'revoke', ...of, made.id, '--data', data]);
  expect([code, stdout]).toEqual([0, `revoked ${made.id}\n`]);
  expect((await links.follow(made.url)).status).toBe(404);
  const again = await runProgram(['link', 'revoke', ...of, made.id, '--data', data]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('stillage: NoSuchPublicLink: ')]);
});

it('links lead to the version that is named, and none is made to what is not there', async () => {
  const { data } = service.started!;
  const bucket = await service.bucket();
  await setVersioning(service.client, bucket, 'Enabled');
  const { VersionId } = await put(service.client, bucket, 'key', 'first');
  await service.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'key' }));
  const { url } = await administer<Made>(data, 'link', 'create', bucket, 'key', '--version-id', VersionId!);
  expect((await links.follow(url)).text).toBe('first');
  for (const [args, code, message] of [
    [[bucket, 'key'], 1, 'NoSuchKey'],
    [[bucket, 'other'], 1, 'NoSuchKey'],
    [['no-such-bucket', 'key'], 1, 'NoSuchBucket'],
    [[bucket, 'key', '--version-id', 'nonsense'], 1, 'InvalidArgument'],
    [[bucket, 'key', '--expires', '86401'], 1, '--expires: a link lasts 86400 seconds at most'],
    [[bucket, 'key', '--expires', '3601', '--limit', 'publicLinkLifetime=3600000'], 1, 'lasts 3600 seconds at most'],
    [[bucket, 'key', '--expires', '0'], 2, 'A link lasts a whole number of seconds.'],
  ] as const) {
    const refused = await runProgram(['link', 'create', ...args, '--data', data]);
    expect([refused.code, refused.stdout]).toEqual([code, '']);
    expect(refused.stderr).toContain(message);
  }
});
