import {
  CreateBucketCommand,
  DeleteBucketPolicyCommand,
  GetBucketPolicyCommand,
  PutBucketPolicyCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { administer, runAt } from '../support/storage/administration.ts';
import { bucketName, sdk } from '../support/clients/clients.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { put } from '../support/storage/objects.ts';
import { alice } from '../support/programs/server.ts';
import { atEachPlace } from './places.ts';

// Each command is a process of its own.
interface Listed {
  readonly bucket: string;
  readonly project: string;
  readonly objects: number;
  readonly bytes: number;
}

atEachPlace({ isRunning: true }, (at) => {
  let client: S3Client;
  let bucket: string;
  beforeEach(async () => {
    client = sdk({ url: at().url }, alice, { maxAttempts: 1 });
    bucket = bucketName('cli');
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    onTestFinished(() => client.destroy());
  });
  const run = <Answer>(...args: string[]): Promise<Answer> => administer<Answer>(at().place, ...args);
  async function text(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runAt(at().place, args);
    expect(code, stderr).toBe(0);
    return stdout;
  }

  describe('buckets', () => {
    it('are listed with what they hold, of a project and of all', async () => {
      await put(client, bucket, 'key', 'seven b');
      await at().follow();
      const own = async (...of: string[]): Promise<Listed | undefined> =>
        (await run<Listed[]>('bucket', 'list', ...of)).find((one) => one.bucket === bucket);
      const counted = await untilFound(async () => {
        const found = await own('main@example.test');
        return found?.objects === 1 ? found : undefined;
      });
      expect(counted).toMatchObject({ project: 'main@example.test', bytes: 7, bytesBesides: 0 });
      expect(await own()).toEqual(counted);
      expect(await own('other@example.test')).toBeUndefined();
      expect(await text('bucket', 'list')).toMatch(
        new RegExp(`^BUCKET .*\\n(.*\\n)*${bucket} +main@example.test +1 +7 bytes +0 bytes `),
      );
    });

    it('have requests for their data taken into the audit log, where there is one', async () => {
      const { code, stdout, stderr } = await runAt(at().place, ['bucket', 'audit', bucket, 'all']);
      if (at().place.args.includes('--cloud')) {
        expect({ code, stdout, stderr }).toEqual({
          ...{ code: 1, stdout: '' },
          stderr: expect.stringMatching(
            /^stillage: the service has no audit log that takes requests: [^\n]*\n$/,
          ) as string,
        });
      } else {
        expect({ code, stdout, stderr }).toEqual({
          ...{ code: 0, stdout: `the audit log takes reads and writes of ${bucket}\n`, stderr: '' },
        });
      }
      expect(await text('bucket', 'audit', bucket, 'none')).toBe(`the audit log takes no requests of ${bucket}\n`);
    });

    it('show their locked versions, with mode, end and hold', async () => {
      const Bucket = bucketName('locked');
      await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
      const until = 1000 * Math.ceil(Date.now() / 1000) + 3_600_000;
      const period = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: new Date(until) } as const;
      const { VersionId: retained } = await put(client, Bucket, '2030/a', 'content', period);
      await put(client, Bucket, '2030/a', 'free');
      const { VersionId: held } = await put(client, Bucket, 'b', 'content', { ObjectLockLegalHoldStatus: 'ON' });
      await put(client, Bucket, 'c', 'content', { ObjectLockLegalHoldStatus: 'OFF' });
      const first = { key: '2030/a', versionId: retained, hold: false, mode: 'GOVERNANCE', until };
      const second = { key: 'b', versionId: held, hold: true };
      expect(await run('bucket', 'locks', Bucket)).toEqual([first, second]);
      expect(await run('bucket', 'locks', Bucket, '--prefix', '2030/')).toEqual([first]);
      expect(await run('bucket', 'locks', Bucket, '--prefix', 'c')).toEqual([]);
      const shown = new Date(until).toISOString().replace('.000Z', 'Z');
      expect((await text('bucket', 'locks', Bucket)).split('\n').map((line) => line.split(/ +/))).toEqual([
        ['KEY', 'VERSION', 'MODE', 'UNTIL', 'HOLD'],
        ['2030/a', retained, 'GOVERNANCE', shown, '-'],
        ['b', held, '-', '-', 'ON'],
        [''],
      ]);
      expect(await text('bucket', 'locks', bucket)).toBe('no locked versions\n');
    });

    it('have quotas, beside those of their projects', async () => {
      await text('quota', 'set', bucket, '--bytes', '10MiB');
      await text('quota', 'set', bucket, '--objects', '5');
      expect(await text('quota', 'show', bucket)).toBe(
        'bytes    0 bytes of 10 MiB: 0 bytes of versions, 0 bytes besides\nobjects  0 of 5\n',
      );
      await text('quota', 'set', bucket, '--bytes', 'default');
      expect(await run('quota', 'show', bucket)).toMatchObject({
        ...{ bucket, quota: { objects: 5 }, isDefault: { bytes: true, objects: false } },
      });
      await text('quota', 'set', 'main@example.test', '--buckets', '60');
      expect(await text('quota', 'show', 'main@example.test')).toMatch(/^buckets {2}\d+ of 60\n$/);
      await text('quota', 'set', 'main@example.test', '--buckets', 'default');
      expect(await text('quota', 'show', 'main@example.test')).toMatch(/^buckets {2}\d+ of 50 \(default\)\n$/);
    });
  });

  it('a policy that shuts everybody out is taken away, and shown', async () => {
    const Policy = JSON.stringify({
      Version: '2012-10-17',
      Statement: [
        {
          ...{ Effect: 'Deny', Principal: '*', Action: 's3:*' },
          Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
        },
      ],
    });
    const shutOut = { Bucket: bucket, Policy, ConfirmRemoveSelfBucketAccess: true };
    await client.send(new PutBucketPolicyCommand(shutOut));
    const denied = s3Error('AccessDenied', 403);
    await expect(client.send(new GetBucketPolicyCommand({ Bucket: bucket }))).rejects.toEqual(denied);
    await expect(client.send(new DeleteBucketPolicyCommand({ Bucket: bucket }))).rejects.toEqual(denied);
    await expect(put(client, bucket, 'key', 'content')).rejects.toEqual(denied);

    expect(await text('bucket', 'remove-policy', bucket)).toBe(`${Policy}\n`);
    await put(client, bucket, 'key', 'content');
    const none = s3Error('NoSuchBucketPolicy', 404);
    await expect(client.send(new GetBucketPolicyCommand({ Bucket: bucket }))).rejects.toEqual(none);
    const again = await runAt(at().place, ['bucket', 'remove-policy', bucket]);
    expect([again.code, again.stdout, again.stderr]).toEqual([
      ...[1, ''],
      'stillage: NoSuchBucketPolicy: The bucket policy does not exist\n',
    ]);
  });

  it('monitoring is turned on, looked at, and has alarms', async () => {
    expect(await run('monitoring', 'show', bucket)).toEqual({ bucket, monitoring: 'off', alarms: 0 });
    expect(await text('metrics', 'show', bucket)).toContain(`to collect them: stillage monitoring enable ${bucket}`);
    expect(await text('monitoring', 'enable', bucket)).toBe(`monitoring of ${bucket} is on\n`);
    const shown = await run<object>('metrics', 'show', bucket, '--last', '1h', '--period', '5m');
    expect(shown).toMatchObject({ bucket, unit: 'Bytes', period: 300, current: { value: 0 }, datapoints: [] });

    const which = [bucket, `${bucket}-full`];
    const made = await run<{ webhookSecret: string }>(
      ...[
        'alarm',
        'put',
        ...which,
        '--threshold',
        '1e6',
        '--on-alarm',
        'https://hooks.example.com/',
        '--on-ok',
        'log:',
      ],
    );
    expect(made).toMatchObject({ threshold: 1e6, webhookSecret: expect.stringMatching(/^[\w-]{43}$/) as string });
    const { webhookSecret: _, ...known } = made;
    expect(await run('alarm', 'show', ...which)).toEqual(known);
    expect(await run('alarm', 'list', bucket)).toEqual([known]);
    const history = await run<{ type: string }[]>('alarm', 'history', ...which);
    expect(history.map(({ type }) => type)).toEqual(['ConfigurationUpdate']);
    expect(await text('alarm', 'show', ...which)).toContain(
      'Average BucketSizeBytes > 1000000 in 1 of 1 periods of 300 s',
    );
    await text('alarm', 'remove', ...which);
    expect(await text('alarm', 'list', bucket)).toBe('no alarms\n');
    expect(await text('monitoring', 'disable', bucket)).toBe(`monitoring of ${bucket} is off\n`);
  });
});
