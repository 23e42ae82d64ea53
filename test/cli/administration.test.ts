import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { administer, makeKey, runAt, type MadeKey } from '../support/storage/administration.ts';
import { run } from '../support/programs/programs.ts';
import { startService } from '../support/programs/server.ts';
import { atEachPlace } from './places.ts';

const root = join(import.meta.dirname, '../..');

// Commands wait for one another, and those in the cloud for a function.
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-cli-'));
});
afterAll(() => rm(folder, { recursive: true }));

atEachPlace({ isRunning: false }, (at) => {
  async function text(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runAt(at().place, args);
    expect(code, stderr).toBe(0);
    return stdout;
  }

  /** Expects a command to fail with this one line. */
  async function refused(args: readonly string[], line: string): Promise<void> {
    const { code, stdout, stderr } = await runAt(at().place, args);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `stillage: ${line}\n` });
  }

  describe('a life', () => {
    it('goes from customer to key, and back', async () => {
      expect(await text('customer', 'create', 'life')).toBe(
        'created life; next: stillage project create <project>@life\n',
      );
      const project = await administer<{ id: string }>(
        at().place,
        'project',
        'create',
        'shop@life',
        '--display-name',
        'Shop',
      );
      expect(project).toMatchObject({ email: 'shop@life', customer: 'life', displayName: 'Shop', suspended: false });
      expect(project.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
      await text('user', 'create', 'shop:ci@life');
      const first = await administer<MadeKey>(at().place, 'key', 'create', 'shop:ci@life');
      expect(first.user).toBe('shop:ci@life');
      const second = await administer<MadeKey>(at().place, 'key', 'create', 'shop:ci@life', '--random');
      for (const { accessKeyId } of [first, second]) expect(accessKeyId).toMatch(/^STIL[A-Z\d]{16}$/);
      await text('key', 'create', 'shop:ci@life', '--id', 'shop:ci@life');
      expect(second.secretAccessKey).not.toBe(first.secretAccessKey);

      expect(await text('user', 'list', 'shop@life')).toMatch(
        /^USER {10}PRIVILEGES {2}STATUS {2}CREATED\nshop:ci@life {2}monitoring {2}active {2}20\S+Z\n$/,
      );
      expect(await text('project', 'list', 'life')).toContain(project.id);
      expect(await text('key', 'list', 'shop@life')).toContain(second.accessKeyId);

      await refused(['customer', 'remove', 'life'], 'life still has shop@life; remove them first');
      await refused(
        ['project', 'remove', 'shop@life'],
        'shop@life still has the users shop:ci@life; remove them first',
      );
      await text('key', 'remove', second.accessKeyId);
      await refused(['key', 'show', second.accessKeyId], `there is no key "${second.accessKeyId}"`);
      await text('user', 'remove', 'shop:ci@life');
      await refused(['key', 'show', 'shop:ci@life'], 'there is no key "shop:ci@life"');
      expect(await text('user', 'list', 'shop@life')).toBe('no users\n');
      await text('project', 'remove', project.id);
      await text('customer', 'remove', 'life');
      await refused(['customer', 'show', 'life'], 'there is no customer "life"');
      await text('customer', 'create', 'life');
    });

    it('knows what the accounts file has declared', async () => {
      const found = await administer<{ keys: string[]; user: string }>(
        at().place,
        'user',
        'show',
        'other:bob@example.test',
      );
      expect(found).toMatchObject({ user: 'other:bob@example.test', keys: ['main:bob@example.test/x'] });
      expect(await text('customer', 'list')).toContain('example.test');
    });
  });

  describe('refusals', () => {
    it.each([
      [['project', 'create', 'shop@nobody'], 'there is no customer "nobody"'],
      [['user', 'create', 'none:ci@example.test'], 'there is no project "none@example.test"'],
      [['key', 'create', 'main:nobody@example.test'], 'the user main:nobody@example.test does not exist'],
      [
        ['key', 'create', 'main:alice@example.test', '--id', 'AKALICE'],
        'the key AKALICE already exists; choose another id',
      ],
      [['customer', 'create', 'example.test'], 'the customer example.test already exists'],
      [['user', 'create', 'main:alice@example.test'], 'the user main:alice@example.test already exists'],
      [['quota', 'set', 'main@example.test', '--buckets', '1001'], 'a project may have at most 1000 buckets'],
      [['quota', 'set', 'no-such-bucket', '--bytes', '1'], 'NoSuchBucket: The specified bucket does not exist'],
      [['quota', 'show', 'no-such-bucket'], 'NoSuchBucket: The specified bucket does not exist'],
      [['bucket', 'list', 'nobody@example.test'], 'there is no project "nobody@example.test"'],
      [['bucket', 'remove-policy', 'no-such-bucket'], 'NoSuchBucket: The specified bucket does not exist'],
      [['usage', 'nobody@example.test'], 'there is no project "nobody@example.test"'],
      [['monitoring', 'enable', 'no-such-bucket'], 'NoSuchBucket: The specified bucket does not exist'],
      [['metrics', 'show', 'no-such-bucket', '--period', '7m'], 'period must be a multiple of 5m'],
      [['alarm', 'show', 'no-such-bucket', 'full'], 'NoSuchBucket: The specified bucket does not exist'],
      [['env', 'nobody'], 'there is no key "nobody"'],
    ])('%j', async (args, line) => {
      await refused(args, line);
    });

    it.each([
      [
        ['key', 'create', 'main:alice@example.test', '--id', 'a,b'],
        /^error: option '--id <id>' .* is not a valid key id: .*\n$/,
      ],
      [
        ['customer', 'create', 'a\nb'],
        /^error: .* "a\\nb" is not a valid customer name: it must have 1 to 64 letters, .*\n$/s,
      ],
      [['project', 'create', 'shop'], /^error: .* "shop" does not name a project: write project@customer\.\n$/],
      [['user', 'create', 'ci@acme'], /^error: .* "ci@acme" does not name a user: write project:user@customer\.\n$/],
      [['user', 'revoke', 'main:alice@example.test', 'sleep'], /^error: .* the privileges are: monitoring\.\n$/],
    ])('of %j end with 2', async (args, line) => {
      const { code, stdout, stderr } = await runAt(at().place, args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(line);
    });
  });

  describe('a key', () => {
    it('is shown with its secret only when it is made, and by env', async () => {
      const key = await makeKey(at().place, 'shop:ci@secrets');
      const shown = await text('key', 'show', key.accessKeyId);
      const listed = await administer(at().place, 'key', 'list', 'shop@secrets');
      expect(shown + JSON.stringify(listed)).not.toContain(key.secretAccessKey);
    });

    it('that is rotated stays good until it is removed, as is said, unless there is an overlap', async () => {
      const { accessKeyId } = await makeKey(at().place, 'shop:ci@turning');
      const ends = async (): Promise<unknown> =>
        (await administer<{ until?: number }>(at().place, 'key', 'show', accessKeyId)).until;
      expect(await text('key', 'rotate', accessKeyId)).toContain(
        `The old key, ${accessKeyId}, stays valid until it is removed: stillage key remove ${accessKeyId}\n`,
      );
      expect(await ends()).toBeUndefined();
      expect(await text('key', 'rotate', accessKeyId, '--overlap', '1h')).toContain('is valid until 20');
      expect(await ends()).toEqual(expect.any(Number));
    });

    it('takes its secret from a file, never from the command line', async () => {
      const file = join(folder, 'secret');
      await writeFile(file, "it's a $ecret\n");
      await administer(
        at().place,
        'key',
        'create',
        'main:alice@example.test',
        '--id',
        'FROM/FILE',
        '--secret-file',
        file,
      );
      const { AWS_SECRET_ACCESS_KEY } = await administer<Record<string, string>>(at().place, 'env', 'FROM/FILE');
      expect(AWS_SECRET_ACCESS_KEY).toBe("it's a $ecret");

      const rc = join(folder, 'rc');
      await writeFile(rc, await text('env', 'FROM/FILE', '--url', 'https://s3.example.test'));
      const script =
        '. "$0" && printf "%s|%s|%s|%s" "$AWS_SECRET_ACCESS_KEY" "$C2_PROJECT" "$AWS_ENDPOINT_URL" "$S3_URL"';
      const { stdout } = await run('sh', ['-c', script, rc]);
      const url = 'https://s3.example.test';
      expect(stdout).toBe(["it's a $ecret", '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9', url, url].join('|'));

      // The SDK for JavaScript reads no AWS_DEFAULT_REGION, and refuses to be without a region.
      const program = `import { S3Client } from '@aws-sdk/client-s3'; console.log(await new S3Client({}).config.region());`;
      const sourced = [
        '-c',
        '. "$0" && exec "$@"',
        rc,
        process.execPath,
        '--no-warnings',
        '--input-type=module',
        '-e',
        program,
      ];
      const files = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
      expect((await run('sh', sourced, { cwd: root, env: files })).stdout).toBe('us-east-1\n');
    });
  });

  describe('policies', () => {
    it('are printed as they are written for a user of one bucket', async () => {
      const user = 'main:uploads@example.test';
      const args = ['user', 'create', user, '--bucket', 'photos', '--prefix', '2026/', '--access', 'write'];
      const printed = await text(...args);
      expect(printed).toContain('"Resource": "arn:aws:s3:::photos/2026/*"');
      expect(printed).toContain(`created ${user}; next: stillage key create ${user}\n`);
      expect(printed).toContain(await text('policy', 'show', user, 'access'));
      expect(await text('policy', 'list', user)).toBe('POLICY  KIND\naccess  inline\n');
      await text('policy', 'attach', user, 'AmazonS3ReadOnlyAccess');
      expect(await text('policy', 'detach', user, 'AmazonS3ReadOnlyAccess')).toBe(
        `${user} no longer has the policy AmazonS3ReadOnlyAccess\n`,
      );
      await text('policy', 'remove', user, 'access');
      expect(await text('policy', 'list', user)).toBe('no policies: the user may do nothing\n');
    });
  });

  describe('privileges', () => {
    it('are taken and given back', async () => {
      const privileges = async (): Promise<unknown> =>
        (await administer<{ privileges: unknown }>(at().place, 'user', 'show', 'main:watcher@example.test')).privileges;
      await text('user', 'create', 'main:watcher@example.test', '--without', 'monitoring');
      expect(await privileges()).toEqual([]);
      await text('user', 'grant', 'main:watcher@example.test', 'monitoring');
      expect(await privileges()).toEqual(['monitoring']);
      await text('user', 'revoke', 'main:watcher@example.test', 'monitoring');
      expect(await privileges()).toEqual([]);
    });
  });
});

it('leaves the key file of a data directory to its owner alone', async () => {
  const data = join(folder, 'data');
  const service = await startService({ data });
  await service.stop();
  await administer(data, 'key', 'create', 'main:alice@example.test');
  expect((await stat(join(data, 'master.key'))).mode & 0o777).toBe(0o600);
});
