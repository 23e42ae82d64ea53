import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutBucketWebsiteCommand,
  PutObjectTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import {
  AddUserToGroupCommand,
  AttachUserPolicyCommand,
  CreateAccessKeyCommand,
  CreateGroupCommand,
  CreateUserCommand,
  GetAccessKeyLastUsedCommand,
  PutUserPermissionsBoundaryCommand,
  PutUserPolicyCommand,
  UpdateAccessKeyCommand,
  type IAMClient,
} from '@aws-sdk/client-iam';
import { setTimeout } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { shortPolicy } from '../../../shared/documents/short-policy.ts';
import type { Key } from '../../support/clients/signer.ts';
import { put } from '../../support/storage/objects.ts';
import { runAt, type Place } from '../../support/storage/administration.ts';

/** The user whose page screenshots show. */
export const samplePerson = 'website-build';

/** The buckets that screenshots show. */
export const sample = { main: 'harbour-museum', site: 'harbour-museum-site', empty: 'loans-2027' } as const;

const letter = `<!doctype html><title>Loan agreement</title>
<style>body{font:14px/1.6 Georgia,serif;margin:48px}h1{font-size:26px}hr{border:0;border-top:1px solid #999}</style>
<h1>Loan agreement</h1><p>Between the Harbour Museum and the City Archive, for the exhibition
<em>Salt, Rope and Steam</em>, March to October 2027.</p><hr><p>The lender provides eleven objects, listed in the annex.
They travel in climate boxes, and are insured from nail to nail.</p><p>The borrower shows them behind glass, at 50 lux at most.</p>`;

const picture = `<!doctype html><style>body{margin:0}svg{display:block}</style>
<svg width="960" height="640" viewBox="0 0 960 640"><rect width="960" height="640" fill="#e9b872"/>
<circle cx="690" cy="250" r="90" fill="#fff3d6"/><path d="M0 400h960v240H0z" fill="#23596b"/>
<path d="M0 430q120-30 240 0t240 0 240 0 240 0v30q-120 30-240 0t-240 0-240 0-240 0z" fill="#2f7488"/>
<path d="M240 380h360l-60 80H300z" fill="#6b2f23"/><path d="M410 110v270" stroke="#3a1c14" stroke-width="10"/>
<path d="M420 130q150 90 120 220H420z" fill="#f7f2e8"/><path d="M400 150q-110 90-90 200h90z" fill="#efe6d2"/></svg>`;

/** Fills a service with the data of a small museum. The browser draws the picture and the document. */
export async function fillSample(client: S3Client, browser: Browser): Promise<void> {
  for (const Bucket of Object.values(sample)) await client.send(new CreateBucketCommand({ Bucket }));
  const enabled = { Status: 'Enabled' } as const;
  await client.send(new PutBucketVersioningCommand({ Bucket: sample.main, VersioningConfiguration: enabled }));
  const page = await browser.newPage({ viewport: { width: 960, height: 640 } });
  await page.setContent(picture);
  const ship = await page.screenshot({ type: 'jpeg', quality: 80 });
  await page.setContent(letter);
  const agreement = await page.pdf({ width: '420px', height: '560px' });
  await page.close();
  const inventory = [
    'number,object,year,place',
    '1,Sextant,1868,Room 2',
    '2,Ship’s bell,1911,Store',
    '3,Chart,1790,Room 1',
  ];
  const objects: readonly (readonly [key: string, body: string | Uint8Array, type: string])[] = [
    ['catalogue/2025/spring.pdf', agreement, 'application/pdf'],
    ['catalogue/2026/autumn.pdf', agreement, 'application/pdf'],
    [
      'exhibitions/salt-rope-steam/plan.json',
      '{"rooms":[{"name":"Salt","lux":50},{"name":"Rope","lux":120}]}',
      'application/json',
    ],
    ['photographs/1911/regatta.jpg', ship, 'image/jpeg'],
    ['inventory.csv', `${inventory.join('\n')}\n`, 'text/csv'],
    ['loan-agreement.pdf', agreement, 'application/pdf'],
    ['opening-hours.txt', 'Tuesday to Sunday, 10 to 18\n', 'text/plain; charset=utf-8'],
    ['sailing-ship.jpg', ship, 'image/jpeg'],
    ['sound-of-the-harbour.flac', new Uint8Array(3_400_000).fill(7), 'audio/flac'],
  ];
  for (const [key, body, ContentType] of objects) {
    const options = { ContentType, Metadata: { photographer: 'M. Holm', licence: 'CC BY 4.0' } };
    await put(client, sample.main, key, body, options);
  }
  await put(client, sample.main, 'opening-hours.txt', 'Tuesday to Sunday, 10 to 20\n', { ContentType: 'text/plain' });
  for (const Key of ['invitations/draft.txt', 'invitations/second-draft.txt', 'old-logo.txt']) {
    await put(client, sample.main, Key, 'not needed any more', { ContentType: 'text/plain' });
    await client.send(new DeleteObjectCommand({ Bucket: sample.main, Key }));
  }
  const TagSet = [
    { Key: 'collection', Value: 'ships' },
    { Key: 'checked', Value: '2026-11' },
  ];
  await client.send(new PutObjectTaggingCommand({ Bucket: sample.main, Key: 'sailing-ship.jpg', Tagging: { TagSet } }));
  await client.send(new PutBucketTaggingCommand({ Bucket: sample.main, Tagging: { TagSet: TagSet.slice(0, 1) } }));
  await put(client, sample.site, 'index.html', '<h1>Harbour Museum</h1>', { ContentType: 'text/html' });
  const Statement = [
    {
      Sid: 'PublicRead',
      Effect: 'Allow',
      Principal: '*',
      Action: ['s3:GetObject'],
      Resource: [`arn:aws:s3:::${sample.site}/*`],
    },
  ];
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
  await client.send(new PutBucketPolicyCommand({ Bucket: sample.site, Policy }));
  await setUp(client);
}

/** Settings of the buckets, so that there is something to be seen on each page. */
async function setUp(client: S3Client): Promise<void> {
  await client.send(
    new PutBucketLifecycleConfigurationCommand({
      Bucket: sample.main,
      LifecycleConfiguration: {
        Rules: [
          { ID: 'drafts', Status: 'Enabled', Filter: { Prefix: 'drafts/' }, Expiration: { Days: 30 } },
          {
            ID: 'old-versions',
            Status: 'Disabled',
            Filter: {},
            NoncurrentVersionExpiration: { NoncurrentDays: 365 },
          },
        ],
      },
    }),
  );
  await client.send(
    new PutBucketWebsiteCommand({
      Bucket: sample.site,
      WebsiteConfiguration: {
        IndexDocument: { Suffix: 'index.html' },
        ErrorDocument: { Key: 'not-found.html' },
        RoutingRules: [
          { Condition: { KeyPrefixEquals: 'visit/' }, Redirect: { ReplaceKeyPrefixWith: 'plan-your-visit/' } },
          {
            Condition: { KeyPrefixEquals: 'shop/', HttpErrorCodeReturnedEquals: '404' },
            Redirect: { Protocol: 'https', HostName: 'shop.example.com', HttpRedirectCode: '302' },
          },
        ],
      },
    }),
  );
  const rule = {
    AllowedOrigins: ['https://www.example.com', 'https://*.example.org'],
    AllowedMethods: ['GET', 'HEAD'],
    AllowedHeaders: ['*'],
    ExposeHeaders: ['ETag'],
    MaxAgeSeconds: 3_600,
  };
  await client.send(new PutBucketCorsCommand({ Bucket: sample.site, CORSConfiguration: { CORSRules: [rule] } }));
}

/** Turns monitoring on and sets alarms, by the program: S3's own clients have nothing for it. */
export async function watch(place: Place | string): Promise<void> {
  const alarm = ['alarm', 'put', sample.main];
  const few = ['--metric', 'NumberOfObjects', '--comparison', 'LessThanThreshold', '--threshold', '5'];
  for (const args of [
    ['monitoring', 'enable', sample.main],
    [...alarm, 'nearly full', '--threshold', '20e12', '--on-alarm', 'log:'],
    [...alarm, 'objects vanished', ...few, '--on-alarm', 'https://hooks.example.com/x'],
    ['run', 'collect-metrics'],
    ['run', 'evaluate-alarms'],
  ]) {
    const { code, stderr } = await runAt(place, args);
    if (code !== 0) throw new Error(stderr);
  }
}

/**
 * Fills the project with the people and programs of the museum.
 * @param s3 the SDK with a key
 */
export async function fillPeople(client: IAMClient, s3: (key: Key) => S3Client): Promise<void> {
  const managed = (name: string): string => `arn:aws:iam::aws:policy/${name}`;
  const create = async (UserName: string): Promise<Key> => {
    await client.send(new CreateUserCommand({ UserName }));
    const { AccessKey } = await client.send(new CreateAccessKeyCommand({ UserName }));
    return { accessKeyId: AccessKey!.AccessKeyId!, secretAccessKey: AccessKey!.SecretAccessKey! };
  };
  const attach = (UserName: string, name: string) =>
    client.send(new AttachUserPolicyCommand({ UserName, PolicyArn: managed(name) }));
  await client.send(new CreateGroupCommand({ GroupName: 'curators' }));
  for (const UserName of ['ada.lindqvist', 'm.holm@harbour.example']) {
    await create(UserName);
    await attach(UserName, 'AmazonS3FullAccess');
    await client.send(new AddUserToGroupCommand({ GroupName: 'curators', UserName }));
  }
  await create('backup');
  const { accessKeyId: AccessKeyId } = await create('backup-old');
  await client.send(new UpdateAccessKeyCommand({ UserName: 'backup-old', AccessKeyId, Status: 'Inactive' }));
  await attach('backup', 'AmazonS3ReadOnlyAccess');
  const UserName = samplePerson;
  const key = await create(UserName);
  const PolicyDocument = shortPolicy(sample.site, '', 'read-write');
  await client.send(new PutUserPolicyCommand({ UserName, PolicyName: 'access', PolicyDocument }));
  const catalogue = shortPolicy(sample.main, 'catalogue/', 'read');
  await client.send(new PutUserPolicyCommand({ UserName, PolicyName: 'catalogue', PolicyDocument: catalogue }));
  await attach(UserName, 'AmazonS3ReadOnlyAccess');
  const PermissionsBoundary = managed('AmazonS3FullAccess');
  await client.send(new PutUserPermissionsBoundaryCommand({ UserName, PermissionsBoundary }));
  await s3(key).send(new ListObjectsV2Command({ Bucket: sample.site }));
  const use = new GetAccessKeyLastUsedCommand({ AccessKeyId: key.accessKeyId });
  // It is written a little later.
  while ((await client.send(use)).AccessKeyLastUsed?.LastUsedDate === undefined) await setTimeout(100);
}
