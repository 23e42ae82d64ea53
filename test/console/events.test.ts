import { createServer, type Server } from 'node:http';
import {
  GetBucketLoggingCommand,
  GetBucketNotificationConfigurationCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { iamClient } from '../support/clients/iam.ts';
import { freePort } from '../support/runs/free-port.ts';
import { alice } from '../support/programs/server.ts';
import { isExternal } from '../support/programs/service-under-test.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { makeBucket } from './support/buckets.ts';
import { consoleUnderTest, expectAccessible } from './support/console.ts';
import { AttachUserPolicyCommand, CreateAccessKeyCommand, CreateUserCommand } from '@aws-sdk/client-iam';

const port = await freePort();
const under = consoleUnderTest(
  ...['--alarm-webhook-allow', `127.0.0.1:${port}`],
  ...['--limit', 'eventRetryTime=1000'],
);

/** What the receiver got, and what it answers. */
const bodies: string[] = [];
let status = 204;
let receiver: Server;
beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(port, '127.0.0.1', resolve));
});
afterAll(async () => {
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

describe.skipIf(isExternal)('the events of a bucket', () => {
  it('are told to a webhook, tested, replayed and taken away again', async (test) => {
    const bucket = await makeBucket(under, []);
    const page = await under.signedIn(test, `/settings/${bucket}/events`);
    await page.getByText('No rules: nobody is told anything.').waitFor();
    await page.getByText('Add a webhook first.').waitFor();
    await page
      .locator('code')
      .filter({ hasText: `${bucket}?event-deliveries=` })
      .waitFor();

    await page.getByRole('button', { name: 'Add webhook' }).click();
    await page.getByLabel('Name', { exact: true }).fill('a b');
    const save = page.getByRole('button', { name: 'Save' });
    expect(await save.isDisabled()).toBe(true);
    await page.getByLabel('Name', { exact: true }).fill('thumbnails');
    await page.getByLabel('URL', { exact: true }).fill(`http://127.0.0.1:${port}/hook`);
    await page.locator('dialog code').filter({ hasText: '?name=thumbnails&webhook=' }).waitFor();
    await expectAccessible(page);
    await save.click();
    await page.getByText('It is shown only now').waitFor();
    const secret = await page.locator('dialog code').textContent();
    expect(secret).toMatch(/^[\w-]{43}$/);
    await page.locator('dialog footer').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Send a test to thumbnails', exact: true }).click();
    await page.getByText('thumbnails took the test event.').waitFor();
    expect(bodies.at(-1)).toContain('s3:TestEvent');
    expect(await page.content()).not.toContain(secret!);

    await page.getByRole('button', { name: 'Add rule' }).click();
    await page.getByLabel('Keys end with').fill('.jpg');
    await page.locator('dialog code').filter({ hasText: 's3api put-bucket-notification-configuration' }).waitFor();
    await expectAccessible(page);
    await save.click();
    await page.getByText('keys ….jpg').waitFor();
    const stored = await under.sdk().send(new GetBucketNotificationConfigurationCommand({ Bucket: bucket }));
    expect(stored.QueueConfigurations).toMatchObject([
      { Events: ['s3:ObjectCreated:*'], Filter: { Key: { FilterRules: [{ Name: 'suffix', Value: '.jpg' }] } } },
    ]);

    status = 503;
    await under.sdk().send(new PutObjectCommand({ Bucket: bucket, Key: 'a +.jpg', Body: 'x' }));
    const again = page.getByRole('button', { name: 'Deliver again: a +.jpg' });
    await untilFound(async () => {
      await page.getByLabel('Show', { exact: true }).selectOption('Waiting');
      await page.getByLabel('Show', { exact: true }).selectOption('Given up');
      return again.isVisible();
    });
    await page.getByText('Last failure: the host answered 503').waitFor();
    await expectAccessible(page);
    status = 204;
    bodies.length = 0;
    await again.click();
    await page.getByText('1 wait for their delivery again.').waitFor();
    await untilFound(() => bodies.some((body) => body.includes('a+%2B.jpg')));

    await page.getByRole('button', { name: 'New secret for thumbnails' }).click();
    await page.locator('dialog').getByRole('button', { name: 'New secret' }).click();
    await page.getByText('It is shown only now').waitFor();
    expect(await page.locator('dialog code').textContent()).not.toBe(secret);
    await page.locator('dialog footer').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Remove rule 1' }).first().click();
    await page.getByText('No rules: nobody is told anything.').waitFor();
    await page.getByRole('button', { name: 'Remove thumbnails' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No webhooks.').waitFor();
    expect(under.faultsOf(page)).toEqual([]);
  });

  it('are shown to whom the webhooks are not', async (test) => {
    const bucket = await makeBucket(under, []);
    const iam = iamClient(under.service.url, alice);
    await iam.send(new CreateUserCommand({ UserName: 'reader' }));
    const PolicyArn = 'arn:aws:iam::aws:policy/AmazonS3FullAccess';
    await iam.send(new AttachUserPolicyCommand({ UserName: 'reader', PolicyArn }));
    const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName: 'reader' }));
    iam.destroy();
    const key = { accessKeyId: AccessKey!.AccessKeyId!, secretAccessKey: AccessKey!.SecretAccessKey! };
    const page = await under.signedIn(test, `/settings/${bucket}/events`, { key });
    await page.getByText('Your user has no right to see the webhooks of the project.').waitFor();
    expect(await page.getByRole('button', { name: 'Add webhook' }).count()).toBe(0);
    expect(under.faultsOf(page)).toEqual([]);
  });
});

describe.skipIf(isExternal)('the access log of a bucket', () => {
  it('is turned on, changed and turned off', async (test) => {
    const [bucket, target] = [await makeBucket(under, []), await makeBucket(under, [])];
    const page = await under.signedIn(test, `/settings/${bucket}/logs`);
    await page.getByText('No access log is written.').waitFor();
    await page.getByRole('button', { name: 'Write an access log' }).click();
    await page.getByLabel('Target bucket').selectOption(target);
    await page.getByLabel('Keys begin with').fill('logs/');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(`Delivered to ${target}, as logs/…`).waitFor();
    const stored = () => under.sdk().send(new GetBucketLoggingCommand({ Bucket: bucket }));
    expect((await stored()).LoggingEnabled).toMatchObject({
      TargetBucket: target,
      TargetPrefix: 'logs/',
      TargetObjectKeyFormat: { PartitionedPrefix: { PartitionDateSource: 'DeliveryTime' } },
    });
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Change access log' }).click();
    await page.getByLabel('Form of the keys').selectOption('Prefix, then the time');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Form of the keys: Prefix, then the time').waitFor();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.locator('dialog').getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('No access log is written.').waitFor();
    expect((await stored()).LoggingEnabled).toBeUndefined();
    expect(under.faultsOf(page)).toEqual([]);
  });
});
