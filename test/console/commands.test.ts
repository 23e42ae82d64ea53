import {
  GetBucketAclCommand,
  GetObjectAclCommand,
  PutObjectAclCommand,
  PutObjectLockConfigurationCommand,
} from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { describe, expect, it, type TestContext } from 'vitest';
import {
  downloadCommand,
  emptyCommand,
  presignCommand,
  publicAccessCommand,
} from '../../console/format/object-commands.ts';
import { aclCommand } from '../../console/format/documents.ts';
import type { Acl } from '../../console/s3/access.ts';
import * as access from '../../console/s3/access.ts';
import * as buckets from '../../console/s3/buckets.ts';
import * as cors from '../../console/s3/cors.ts';
import * as lifecycle from '../../console/s3/lifecycle.ts';
import * as monitoring from '../../console/s3/monitoring.ts';
import * as multipart from '../../console/s3/multipart.ts';
import * as objectLock from '../../console/s3/object-lock.ts';
import * as objects from '../../console/s3/objects.ts';
import * as tags from '../../console/s3/tags.ts';
import * as website from '../../console/s3/website.ts';
import { awsInstalled, howToInstallAws } from '../support/clients/aws-cli.ts';
import { put, read, setVersioning } from '../support/storage/objects.ts';
import { run, skip } from '../support/programs/programs.ts';
import { alice } from '../support/programs/server.ts';
import { file, largeFile, makeBucket, row } from './support/buckets.ts';
import { consoleUnderTest } from './support/console.ts';

const under = consoleUnderTest();
const modules = { access, buckets, cors, lifecycle, monitoring, multipart, objectLock, objects, tags, website };

type Verb = 'put' | 'delete' | 'create' | 'copy' | 'rename' | 'replace' | 'complete' | 'abort';
type NameOf<M> = Extract<keyof M, `${Verb}${string}`>;
/** The functions of the console that change data: those of `console/s3` whose names begin with these verbs. */
type Change = { [M in keyof typeof modules]: NameOf<(typeof modules)[M]> }[keyof typeof modules];

/** Clicks the button that copies a command, and returns the command. */
async function copied(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name }).first().click();
  return page.evaluate(() => navigator.clipboard.readText());
}

const details = (tab: string) => (bucket: string) => `/b/${bucket}/?o=a.txt&t=${tab}`;
const settings = (section: string) => (bucket: string) => `/settings/${bucket}/${section}`;
const folder = (bucket: string): string => `/b/${bucket}/`;

async function menuOf(page: Page, name: string, item: string): Promise<void> {
  await row(page, name).click({ button: 'right' });
  await page.getByRole('menuitem', { name: item }).click();
}

/** Uploads a file, and returns the command that *Transfers* has for it. */
async function uploaded(page: Page): Promise<string> {
  await page.locator('#upload-files').setInputFiles([file('b.txt', 'b')]);
  await row(page, 'b.txt').waitFor();
  await page.getByRole('link', { name: 'Transfers' }).click();
  return copied(page, 'AWS CLI: Upload');
}

/** Gives the bucket of a page object lock, and a version that may be locked. */
async function locked(page: Page): Promise<void> {
  const Bucket = new URL(page.url()).pathname.split('/')[2]!;
  await setVersioning(under.sdk(), Bucket, 'Enabled');
  const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled' } as const;
  await under.sdk().send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }));
  await put(under.sdk(), Bucket, 'a.txt', 'a version');
  await page.getByRole('link', { name: 'Transfers' }).click();
  await page.goBack();
}

interface Shown {
  readonly path: (bucket: string) => string;
  /** A part of the command, on the page or in the result of `open`. */
  readonly command: string;
  /** Opens the view with the command; returns the command if it is copied. */
  readonly open?: (page: Page, test: TestContext) => Promise<string | void>;
}

/** Where each change is shown as a command. A new one without an entry does not compile. */
const table: Readonly<Record<Change, Shown | readonly Shown[]>> = {
  putAcl: [
    { path: details('access'), command: 'put-object-acl --bucket BUCKET --key a.txt --access-control-policy' },
    { path: settings('access'), command: 'put-bucket-acl --bucket BUCKET --access-control-policy' },
    {
      path: settings('access'),
      command: '{"Grantee":{"Type":"AmazonCustomerByEmail","EmailAddress":"x@y"},"Permission":"READ"}',
      open: async (page) => {
        await page.getByLabel('Who').selectOption('Project');
        await page.getByLabel('project@customer').fill('x@y');
        await page.getByRole('button', { name: 'Add grant' }).click();
      },
    },
    {
      path: folder,
      command: 'get-object-acl --bucket BUCKET --key a.txt',
      open: (page) => menuOf(page, 'a.txt', 'Open public access …'),
    },
  ],
  putPolicy: { path: settings('access'), command: 'put-bucket-policy --bucket BUCKET' },
  deletePolicy: {
    path: settings('access'),
    command: 'delete-bucket-policy --bucket BUCKET',
    open: async (page) => {
      await page.getByLabel('Add a statement').selectOption('Everybody may read objects');
      await page.getByRole('button', { name: 'Save policy' }).click();
    },
  },
  createPublicLink: { path: details('links'), command: '/BUCKET/a.txt?expires=86400&public-link=' },
  deletePublicLink: [
    {
      path: details('links'),
      command: '-X DELETE',
      open: async (page) => {
        await page.getByRole('button', { name: 'Make a link' }).click();
        return copied(page, 'curl: Revoke');
      },
    },
    { path: folder, command: 'id=ID', open: (page) => menuOf(page, 'folder', 'Public links …') },
  ],
  putPublicAccessBlock: [
    {
      path: settings('access'),
      command:
        'put-public-access-block --bucket BUCKET --public-access-block-configuration BlockPublicAcls=false,IgnorePublicAcls=true,BlockPublicPolicy=false,RestrictPublicBuckets=false',
      open: (page) => copied(page, 'AWS CLI: On: Ignore ACLs'),
    },
    {
      path: settings('access'),
      command: 'BlockPublicAcls=true,IgnorePublicAcls=false,BlockPublicPolicy=false,RestrictPublicBuckets=false',
      open: async (page) => {
        for (const name of ['Refuse new ACLs', 'Ignore ACLs']) {
          await page.getByRole('switch', { name }).click();
          await page.getByRole('button', { name: `AWS CLI: Off: ${name}` }).waitFor();
        }
        return copied(page, 'AWS CLI: Off: Ignore ACLs');
      },
    },
  ],
  createFolder: {
    path: folder,
    command: 'put-object --bucket BUCKET --key folder/',
    open: (page) => page.getByRole('button', { name: 'New folder' }).click(),
  },
  deleteObject: {
    path: details('versions'),
    command: 'delete-object --bucket BUCKET --key a.txt --version-id',
    open: (page) => page.getByRole('button', { name: 'Delete version …' }).click(),
  },
  deleteObjects: {
    path: folder,
    command: 's3 rm s3://BUCKET/a.txt',
    open: (page) => menuOf(page, 'a.txt', 'Delete'),
  },
  copyObject: {
    path: folder,
    command: 's3 cp s3://BUCKET/a.txt s3://BUCKET/a.txt',
    open: (page) => menuOf(page, 'a.txt', 'Copy to …'),
  },
  renameObject: {
    path: folder,
    command: 's3 mv s3://BUCKET/a.txt s3://BUCKET/a.txt',
    open: (page) => menuOf(page, 'a.txt', 'Rename …'),
  },
  replaceHeaders: {
    path: details('properties'),
    command: '--metadata-directive REPLACE',
    open: (page) => page.getByRole('button', { name: 'Edit: Metadata' }).click(),
  },
  createBucket: [
    {
      path: () => '/',
      command: 's3 mb s3://my-bucket',
      open: (page) => page.getByRole('button', { name: 'Create bucket' }).first().click(),
    },
    {
      path: () => '/',
      command: 'create-bucket --bucket my-bucket --region us-east-1 --object-lock-enabled-for-bucket',
      open: async (page) => {
        await page.getByRole('button', { name: 'Create bucket' }).first().click();
        await page.getByLabel('Object lock').check();
      },
    },
  ],
  deleteBucket: {
    path: () => '/',
    command: 'delete-object --bucket BUCKET --key "$key" --version-id "$version"',
    open: async (page) => {
      await page.getByRole('button', { name: 'Actions for' }).first().click();
      await page.getByRole('menuitem', { name: 'Delete …' }).click();
    },
  },
  putVersioning: [
    { path: settings('overview'), command: 'put-bucket-versioning --bucket BUCKET' },
    {
      path: () => '/',
      command: 'put-bucket-versioning --bucket my-bucket',
      open: async (page) => {
        await page.getByRole('button', { name: 'Create bucket' }).first().click();
        await page.getByLabel('Keep versions').check();
      },
    },
  ],
  putObjectLock: { path: settings('lock'), command: 'put-object-lock-configuration --bucket BUCKET' },
  putRetention: {
    path: details('properties'),
    command: 'put-object-retention --bucket BUCKET --key a.txt --version-id',
    open: async (page) => {
      await locked(page);
      await page.getByRole('button', { name: 'Edit: Object lock' }).click();
    },
  },
  putLegalHold: {
    path: details('properties'),
    command: '--legal-hold Status=ON',
    open: locked,
  },
  putEncryption: { path: settings('overview'), command: 'put-bucket-encryption --bucket BUCKET' },
  putTags: {
    path: details('properties'),
    command: 'delete-object-tagging --bucket BUCKET --key a.txt',
    open: (page) => page.getByRole('button', { name: 'Edit: Tags' }).click(),
  },
  putWebsite: { path: settings('website'), command: 's3 website s3://BUCKET' },
  deleteWebsite: {
    path: settings('website'),
    command: 'delete-bucket-website --bucket BUCKET',
    open: (page) => page.getByRole('button', { name: 'Turn on' }).click(),
  },
  putCors: {
    path: settings('cors'),
    command: 'delete-bucket-cors --bucket BUCKET',
    open: async (page) => {
      await page.getByRole('button', { name: 'Add rule' }).click();
      await page.getByLabel('Origins').fill('https://a.example');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByLabel('CORS 1').waitFor();
      return copied(page, 'AWS CLI: Remove');
    },
  },
  putLifecycle: {
    path: settings('lifecycle'),
    command: 'delete-bucket-lifecycle --bucket BUCKET',
    open: async (page) => {
      await page.getByRole('button', { name: 'Add rule' }).click();
      await page.getByLabel('Rule name').fill('old');
      await page.getByLabel('Days until the current version expires').fill('3');
      await page.getByRole('button', { name: 'Save' }).click();
      expect(await copied(page, 'AWS CLI: Off old')).toContain('"Status":"Disabled"');
      return copied(page, 'AWS CLI: Remove old');
    },
  },
  putMonitoring: { path: settings('monitoring'), command: '<Status>Enabled</Status>' },
  putAlarm: {
    path: settings('alarms'),
    command: '/BUCKET?alarm=&name=full',
    open: async (page) => {
      await page.getByRole('switch').click();
      await page.getByRole('button', { name: 'Add alarm' }).click();
      await page.getByLabel('Name', { exact: true }).fill('full');
      await page.getByLabel('Threshold').fill('10');
    },
  },
  deleteAlarm: {
    path: settings('alarms'),
    command: '-X DELETE',
    open: async (page) => {
      await page.getByRole('switch').click();
      await page.getByRole('button', { name: 'Add alarm' }).click();
      await page.getByLabel('Name', { exact: true }).fill('full');
      await page.getByLabel('Threshold').fill('10');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('button', { name: 'Delete full' }).click();
    },
  },
  createMultipartUpload: { path: folder, command: 's3 cp ./b.txt s3://BUCKET/b.txt', open: uploaded },
  completeMultipartUpload: { path: folder, command: 's3 cp ./b.txt s3://BUCKET/b.txt', open: uploaded },
  abortMultipartUpload: {
    path: folder,
    command: 'abort-multipart-upload --bucket BUCKET --key large.bin --upload-id',
    open: async (page, test) => {
      // The parts never arrive, and the upload is stopped: the service keeps the open upload.
      await page.route(/partNumber=/, () => undefined);
      const sent = page.waitForRequest(/partNumber=/);
      await page.locator('#upload-files').setInputFiles(await largeFile(test));
      await sent;
      await page.getByRole('link', { name: /Transfers/ }).click();
      await page.getByRole('button', { name: 'Stop' }).click();
      return copied(page, 'AWS CLI: Discard large.bin');
    },
  },
};

describe('every action', () => {
  it('has an entry in the table', () => {
    const reads = /^(?:get|list|head|every|versions|is)/;
    const functions = Object.values(modules).flatMap((each) => Object.entries(each as Record<string, unknown>));
    const calling = functions.filter(
      ([, value]) => typeof value === 'function' && /^async function\*?\s*\w+\(client/.test(String(value)),
    );
    const changes = calling.map(([name]) => name).filter((name) => !reads.test(name));
    expect(changes.toSorted()).toEqual(Object.keys(table).toSorted());
  });

  const rows = Object.entries(table).flatMap(([name, shown]) => [shown].flat().map((each) => ({ name, ...each })));
  it.for(rows)('is shown as a command: $name, $command', async ({ path, command, open }, test) => {
    const bucket = await makeBucket(under, ['a.txt', 'folder/b']);
    const page = await under.signedIn(test, path(bucket), { permissions: ['clipboard-read', 'clipboard-write'] });
    if (path(bucket) === '/') await page.getByLabel('Filter buckets').fill(bucket);
    const text = await open?.(page, test);
    const wanted = command.replaceAll('BUCKET', bucket);
    if (typeof text === 'string') expect(text).toContain(wanted);
    else await page.locator('code').filter({ hasText: wanted }).first().waitFor();
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('of versions has a command for each of them', async (test) => {
    const bucket = await makeBucket(under, []);
    await setVersioning(under.sdk(), bucket, 'Enabled');
    await put(under.sdk(), bucket, 'a.txt', 'one');
    await put(under.sdk(), bucket, 'a.txt', 'two');
    const options = { permissions: ['clipboard-read', 'clipboard-write'] };
    const page = await under.signedIn(test, details('versions')(bucket), options);
    expect(await copied(page, 'AWS CLI: Restore')).toMatch(/copy-object .*--copy-source .*versionId=/);
    expect(await copied(page, 'AWS CLI: Download')).toMatch(/get-object .*--version-id \S+ \.\/a\.txt$/);
  });

  it('with a presigned URL shows what makes it, and the request it is for', async (test) => {
    const bucket = await makeBucket(under, ['a.txt']);
    const page = await under.signedIn(test, details('links')(bucket));
    const code = (text: string) => page.locator('code').filter({ hasText: text });
    await code(`s3 presign s3://${bucket}/a.txt --expires-in 3600`).waitFor();
    await page.getByLabel('For', { exact: true }).selectOption('PUT');
    await code('generate_presigned_url("put_object"').waitFor();
    await page.getByRole('button', { name: 'Make a URL' }).click();
    await code('curl --upload-file FILE').waitFor();
  });
});

/** Runs a command of the console in a shell, as alice. */
async function shell(command: string, program = ['sh', '-c']): Promise<string> {
  const env = {
    ...{ AWS_ACCESS_KEY_ID: alice.accessKeyId, AWS_SECRET_ACCESS_KEY: alice.secretAccessKey },
    ...{ AWS_DEFAULT_REGION: 'us-east-1', AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' },
  };
  const { stdout, stderr } = await run(program[0]!, [...program.slice(1), command], { env });
  expect(stderr).toBe('');
  return stdout.trim();
}

/** A dozen runs of the AWS CLI, each of which takes seconds to begin on a busy machine. */
const cliTimeout = 240_000;

const target = () => ({ endpoint: under.service.url, region: 'us-east-1' });
const everybody = 'http://acs.amazonaws.com/groups/global/AllUsers';
const signedIn = 'http://acs.amazonaws.com/groups/global/AuthenticatedUsers';

describe('the commands', () => {
  it(
    'change public access, and keep the grants to others',
    async (test) => {
      if (!awsInstalled) return skip(test, howToInstallAws);
      const bucket = await makeBucket(under, ['it is.txt', 'folder/a b']);
      const client = under.sdk();
      const uris = async (Key: string) => {
        const { Grants } = await client.send(new GetObjectAclCommand({ Bucket: bucket, Key }));
        return Grants!.map(({ Grantee }) => Grantee?.URI ?? Grantee?.Type).toSorted();
      };
      for (const Key of ['it is.txt', 'folder/a b']) {
        await client.send(new PutObjectAclCommand({ Bucket: bucket, Key, ACL: 'authenticated-read' }));
      }
      for (const entry of [
        { kind: 'object', key: 'it is.txt' },
        { kind: 'folder', key: 'folder/' },
      ] as const) {
        const key = entry.kind === 'folder' ? 'folder/a b' : entry.key;
        await shell(publicAccessCommand(target(), bucket, entry, true));
        expect(await uris(key)).toEqual(['CanonicalUser', everybody, signedIn]);
        await shell(publicAccessCommand(target(), bucket, entry, false));
        expect(await uris(key)).toEqual(['CanonicalUser', signedIn]);
      }
    },
    cliTimeout,
  );

  it(
    'set an ACL, empty a bucket with its versions, and save an object',
    async (test) => {
      if (!awsInstalled) return skip(test, howToInstallAws);
      const bucket = await makeBucket(under, ["it's.txt"]);
      const client = under.sdk();
      const before = await client.send(new GetBucketAclCommand({ Bucket: bucket }));
      const id = before.Owner!.ID!;
      const acl: Acl = {
        owner: { id, name: '' },
        grants: [
          { grantee: { kind: 'id', id, name: '' }, permission: 'FULL_CONTROL' },
          { grantee: { kind: 'signed-in' }, permission: 'READ_ACP' },
          { grantee: { kind: 'email', email: 'other@example.test' }, permission: 'WRITE' },
        ],
      };
      await shell(aclCommand(target(), { bucket }, acl));
      const after = await client.send(new GetBucketAclCommand({ Bucket: bucket }));
      expect(after.Grants!.map(({ Permission }) => Permission).toSorted()).toEqual([
        'FULL_CONTROL',
        'READ_ACP',
        'WRITE',
      ]);
      await setVersioning(client, bucket, 'Enabled');
      await put(client, bucket, "it's.txt", 'new');
      const entry = { kind: 'object', key: "it's.txt" } as const;
      expect(await shell(downloadCommand(target(), bucket, entry).replace(/ \.$/, ' -'))).toBe('new');
      await shell(emptyCommand(target(), bucket));
      await shell(`aws --endpoint-url ${target().endpoint} s3 rb s3://${bucket}`);
    },
    cliTimeout,
  );

  it('make presigned URLs for reading and writing', async (test) => {
    if (!awsInstalled) return skip(test, howToInstallAws);
    const bucket = await makeBucket(under, []);
    const key = `"it's" \\ é.txt`;
    const python = presignCommand(target(), { method: 'PUT', bucket, key, seconds: 60 }).command;
    const url = await shell(python, ['python3', '-c']);
    expect((await fetch(url, { method: 'PUT', body: 'written' })).status).toBe(200);
    await expect.poll(() => read(under.sdk(), bucket, key)).toBe('written');
    const reading = await shell(presignCommand(target(), { method: 'GET', bucket, key, seconds: 60 }).command);
    expect(await (await fetch(reading)).text()).toBe('written');
  });
});
