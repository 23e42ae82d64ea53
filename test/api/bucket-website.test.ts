import {
  DeleteBucketWebsiteCommand,
  GetBucketWebsiteCommand,
  PutBucketWebsiteCommand,
  type GetBucketWebsiteCommandOutput,
  type WebsiteConfiguration,
} from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { s3Error } from '../support/clients/expect-error.ts';
import { put } from '../support/storage/objects.ts';
import { exchange } from '../support/clients/raw-client.ts';
import { serviceUnderTest, takesSettings } from '../support/programs/service-under-test.ts';
import { anonymous } from '../support/clients/signer.ts';

const service = serviceUnderTest();

async function configure(bucket: string, configuration: WebsiteConfiguration): Promise<void> {
  await service.client.send(new PutBucketWebsiteCommand({ Bucket: bucket, WebsiteConfiguration: configuration }));
}

async function configurationOf(bucket: string): Promise<Omit<GetBucketWebsiteCommandOutput, '$metadata'>> {
  const { $metadata: _, ...configuration } = await service.client.send(new GetBucketWebsiteCommand({ Bucket: bucket }));
  return configuration;
}

const pages: WebsiteConfiguration = { IndexDocument: { Suffix: 'index.html' } };

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketWebsite.html */
describe('the website configuration of a bucket', () => {
  it('is kept, replaced and taken away', async () => {
    const bucket = await service.bucket();
    await expect(configurationOf(bucket)).rejects.toEqual(s3Error('NoSuchWebsiteConfiguration', 404));
    const whole: WebsiteConfiguration = {
      ...pages,
      ErrorDocument: { Key: 'error.html' },
      RoutingRules: [
        {
          Condition: { KeyPrefixEquals: 'docs/', HttpErrorCodeReturnedEquals: '404' },
          Redirect: {
            Protocol: 'https',
            HostName: 'docs.example',
            ReplaceKeyPrefixWith: 'documents/',
            HttpRedirectCode: '302',
          },
        },
        { Redirect: { ReplaceKeyWith: 'away.html' } },
      ],
    };
    await configure(bucket, whole);
    expect(await configurationOf(bucket)).toEqual(whole);
    const elsewhere: WebsiteConfiguration = { RedirectAllRequestsTo: { HostName: 'b.example', Protocol: 'http' } };
    await configure(bucket, elsewhere);
    expect(await configurationOf(bucket)).toEqual(elsewhere);
    const { $metadata } = await service.client.send(new DeleteBucketWebsiteCommand({ Bucket: bucket }));
    expect($metadata.httpStatusCode).toBe(204);
    await expect(configurationOf(bucket)).rejects.toEqual(s3Error('NoSuchWebsiteConfiguration', 404));
  });

  it.each<[string, WebsiteConfiguration, string]>([
    ['nothing', {}, 'InvalidArgument'],
    ['an empty suffix', { IndexDocument: { Suffix: '' } }, 'InvalidArgument'],
    ['a slash in the suffix', { IndexDocument: { Suffix: 'a/b' } }, 'InvalidArgument'],
    ['both ways', { ...pages, RedirectAllRequestsTo: { HostName: 'b.example' } }, 'InvalidArgument'],
    ['51 rules', { ...pages, RoutingRules: Array(51).fill({ Redirect: { ReplaceKeyWith: 'a' } }) }, 'InvalidRequest'],
    [
      'both replacements',
      { ...pages, RoutingRules: [{ Redirect: { ReplaceKeyWith: 'a', ReplaceKeyPrefixWith: 'b' } }] },
      'InvalidRequest',
    ],
    [
      'a status that is no redirect',
      { ...pages, RoutingRules: [{ Redirect: { ReplaceKeyWith: 'a', HttpRedirectCode: '200' } }] },
      'InvalidRequest',
    ],
  ])('is refused for %s, and changes nothing', async (_, configuration, code) => {
    const bucket = await service.bucket();
    await configure(bucket, pages);
    await expect(configure(bucket, configuration)).rejects.toEqual(s3Error(code, 400));
    expect(await configurationOf(bucket)).toEqual(pages);
  });

  it('is refused to everybody else', async () => {
    const bucket = await service.bucket();
    await configure(bucket, pages);
    for (const command of [
      new GetBucketWebsiteCommand({ Bucket: bucket }),
      new DeleteBucketWebsiteCommand({ Bucket: bucket }),
      new PutBucketWebsiteCommand({ Bucket: bucket, WebsiteConfiguration: pages }),
    ]) {
      const request = service.stranger.send(command as GetBucketWebsiteCommand);
      await expect(request).rejects.toEqual(s3Error('AccessDenied', 403));
    }
    expect(await configurationOf(bucket)).toEqual(pages);
  });
});

describe('GetWebsitePage', () => {
  it.runIf(takesSettings)('shows what the SDK has put, at the usual name', async () => {
    const bucket = await service.bucket();
    await configure(bucket, pages);
    await put(service.client, bucket, 'index.html', '<h1>Hello</h1>', { ACL: 'public-read', ContentType: 'text/html' });
    const response = await exchange(service.url, anonymous(`${bucket}.${service.websiteDomain}:9000`, { path: '/' }));
    expect([response.status, response.text, response.header('content-type')]).toEqual([
      200,
      '<h1>Hello</h1>',
      'text/html',
    ]);
  });
});
