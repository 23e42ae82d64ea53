import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueCertificate } from '../support/clients/certificates.ts';
import { sdk } from '../support/clients/clients.ts';
import { put } from '../support/storage/objects.ts';
import { runProgram, type RunOptions } from '../support/programs/program.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { alice, startService } from '../support/programs/server.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-operator-'));
});
afterAll(() => rm(folder, { recursive: true }));

let count = 0;

/** A path that nothing lies at yet. */
function fresh(): string {
  count += 1;
  return join(folder, String(count));
}

async function file(content: string): Promise<string> {
  const path = fresh();
  await writeFile(path, content);
  return path;
}

/**
 * Expects that a start fails at once, with this single line and without a stack trace. The exit code is 2 if the command line is wrong.
 */
async function expectRefused(
  args: readonly string[],
  line: RegExp | string,
  { exitCode, ...options }: RunOptions & { readonly exitCode?: number } = {},
): Promise<void> {
  const data = args.includes('--data') ? [] : ['--data', fresh()];
  const words = ['start', '--port', '0', ...data, ...args];
  // A mistake of the command line is found before anything is opened, which a process that goes on could not let go of.
  const { code, stdout, stderr } =
    exitCode === 2 && options.as === undefined ? await runWarm(words, options.env) : await runProgram(words, options);
  expect({ code, stdout }, stderr).toEqual({ code: exitCode ?? (stderr.startsWith('error: ') ? 2 : 1), stdout: '' });
  expect(stderr).toMatch(/^(?:stillage|error): [^\n]+\n$/);
  expect(stderr).toMatch(line);
}

describe('options that make no sense', () => {
  it.concurrent.each([
    [['--port', 'x'], 'Must be a port number, from 0 to 65535.'],
    [['--port', '65536'], 'Must be a port number, from 0 to 65535.'],
    [['--port', '-1'], 'Must be a port number, from 0 to 65535.'],
    [['--limit', 'bodyIdle'], 'Must be name=value'],
    [['--limit', 'bodyIdle=1.5'], 'Must be name=value'],
    [['--limit', 'bodyIdle=0'], 'bodyIdle must be a whole number from 100 to 2147483647.'],
    [['--limit', 'bodyIdle=2147483648'], 'bodyIdle must be a whole number from 100 to 2147483647.'],
    [['--limit', 'keyBytes=1025'], 'keyBytes must be a whole number from 1 to 1024.'],
    [['--limit', 'bucketBytes=99999999999999999999'], 'bucketBytes must be a whole number from 1 to 9007199254740991.'],
    [['--limit', 'corsRules=5,requestsPerSecond=0'], 'requestsPerSecond must be a whole number from 1 to 1000000.'],
    [['--limit', 'bodyIdol=1'], 'Unknown limit "bodyIdol"'],
    [['--limit', 'toString=1'], 'Unknown limit "toString"'],
    [['--trust-proxy', 'nobody'], '"nobody" is not an address range'],
    [['--host', ''], 'Must be an address or a host name'],
    [['--host', 'http://127.0.0.1'], 'Must be an address or a host name'],
    [['--domain', ''], 'Must be a domain name such as s3.example.com'],
    [['--domain', 's3 example'], 'Must be a domain name such as s3.example.com'],
    [['--domain', 'https://s3.example.com'], 'Must be a domain name such as s3.example.com'],
    [['--website-domain', 'web.example.com:80'], 'Must be a domain name such as s3.example.com'],
    [['--domain', 'a.test', '--website-domain', 'A.test'], '--website-domain must differ from --domain'],
    [['--region', ''], 'Must be the name of a region'],
    [['--region', 'us east'], 'Must be the name of a region'],
    [['--allow-region', 'eu,'], 'Must be the name of a region'],
    [['--xml-namespace', 'http://x"y'], 'Must be a URI such as'],
    [['--all-users-group-uri', ''], 'Must be a URI such as'],
    [['--data', ''], 'Must be the path of a file or directory.'],
    [['--ready-file', ''], 'Must be the path of a file or directory.'],
    [['--tls-cert', ''], 'Must be the path of a file or directory.'],
    [
      ['--scrub-rate', 'default'],
      'Must be a number of bytes, or one with a unit (KiB, MiB, GiB, TiB, kB, MB, GB, TB) such as 10TiB.',
    ],
    [['--ephemeral', '--workers', '2'], '--ephemeral cannot be used with --workers'],
    [['--unknown'], "unknown option '--unknown'"],
    [['argument'], 'too many arguments'],
    [['--tls-cert', 'cert.pem'], '--tls-cert needs --tls-key, the file'],
    [['--tls-key', 'key.pem'], '--tls-key needs --tls-cert, the file'],
    [['--tls', 'yes'], 'Must be self-signed'],
    [['--tls', 'self-signed', '--tls-cert', 'cert.pem'], '--tls self-signed makes a certificate itself: leave out'],
    [['--tls', 'self-signed', '--tls-key', 'key.pem'], '--tls self-signed makes a certificate itself: leave out'],
    [['--tls-cert', '/nowhere/cert.pem', '--tls-key', '/nowhere/key.pem'], 'cannot read /nowhere/cert.pem'],
    [['--host', 'nowhere.invalid'], 'cannot listen on nowhere.invalid:0'],
  ])('%j', async (args, line) => {
    // Only those that the machine refuses are no mistake of the command line.
    const exitCode = line.startsWith('cannot ') ? 1 : 2;
    await expectRefused(args, line, { exitCode });
  });

  it('of commands are refused as well', async () => {
    const data = fresh();
    const wrong: readonly (readonly [readonly string[], string])[] = [
      [['env', 'key', '--url', 'foo'], 'Must be an http or https URL'],
      [['env', 'key', '--port', 'x'], 'Must be a port number'],
      [['run', 'apply-lifecycle', '--workers', 'x'], 'Must be a whole number from 1 to 1000.'],
      [['run', 'apply-lifecycle', '--workers', '0'], 'Must be a whole number from 1 to 1000.'],
      [['customer', 'list', '--aws-region', 'x'], '--aws-region needs --cloud'],
    ];
    for (const [args, line] of wrong) {
      const { code, stdout, stderr } = await runWarm([...args, '--data', data]);
      expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(line);
    }
  });

  it('warn once if they are variables that no option has', async () => {
    const service = await startService({ env: { STILLAGE_REGOIN: 'eu-1', STILLAGE_WORKERS: '2' } });
    expect(await service.stop()).toBe(0);
    expect(service.output.stderr.match(/warning: STILLAGE_REGOIN is no setting and has no effect/g)).toHaveLength(1);
  });

  it('are found in the environment, too', async () => {
    await expectRefused([], "from env 'STILLAGE_LIMIT' is invalid", { env: { STILLAGE_LIMIT: 'nonsense' } });
  });

  it('are not those of the environment that are empty', async () => {
    const service = await startService({ env: { STILLAGE_LIMIT: '', STILLAGE_TLS_CERT: '', STILLAGE_REGION: '' } });
    expect(await service.stop()).toBe(0);
  });
});

describe('files for TLS that are not of use', () => {
  it('are no PEM, or do not belong together', async () => {
    const nonsense = await file('nonsense');
    await expectRefused(['--tls-cert', nonsense, '--tls-key', nonsense], 'are not a certificate and its key');
    const [one, other] = await Promise.all(
      [fresh(), fresh()].map(async (path) => {
        await mkdir(path);
        return issueCertificate(path, ['localhost']);
      }),
    );
    await expectRefused(['--tls-cert', one!.certificate, '--tls-key', other!.key], 'are not a certificate and its key');
  });
});

describe('a file of accounts that cannot be used', () => {
  const project = { project: 'p@c', id: 'id' };
  const withKeys = (...keys: object[]) => JSON.stringify([{ ...project, users: [{ name: 'user', keys }] }]);
  const key = { accessKeyId: 'AK', secretAccessKey: 'secret' };

  it.concurrent.each([
    ['nothing', '', 'is not JSON'],
    ['not JSON', '[\n  {"project" "p@c"}\n]', /is not JSON(: line 2, column 14)?\n/],
    ['an object', '{}', 'expected array'],
    ['of the wrong type', '[{"project":1}]', '[0].project: Invalid input: expected string, received number'],
    ['without an id', '[{"project":"p@c"}]', '[0].id: Invalid input'],
    ['without a customer', '[{"project":"p","id":"id"}]', 'must have the form project@customer'],
    ['with more than is known', JSON.stringify([{ ...project, extra: 1 }]), 'Unrecognized key: "extra"'],
    ['with half a key', withKeys({ accessKeyId: 'AK' }), '[0].users[0].keys[0].secretAccessKey'],
    ['with a key twice', withKeys(key, key), 'accessKeyId AK is declared twice'],
    ['with a project twice', JSON.stringify([project, project]), 'is declared twice'],
  ])('%s', async (_, content, line) => {
    await expectRefused(['--accounts', await file(content)], line);
  });

  it('is not there, or not to be read', async () => {
    await expectRefused(['--accounts', '/nowhere/accounts.json'], 'cannot read /nowhere/accounts.json');
    await expectRefused(['--accounts', folder], `cannot read ${folder}`);
  });

  it('is not quoted, because it holds secrets', async () => {
    for (const broken of ['["a-secret-key" x', '["a-secret-key', 'a-secret-key', '{"a-secret-key": a-secret-key}']) {
      const { stderr } = await runProgram(['start', '--data', fresh(), '--accounts', await file(broken)]);
      expect(stderr).toContain('is not JSON');
      expect(stderr).not.toMatch(/secret|a-se|key"/);
    }
  });
});

describe('a place that cannot be used', () => {
  it('is a port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expectRefused(['--port', String(port)], `port ${port} is taken; choose another one with --port`);
    other.close();
  });

  it('is a data directory that is a file, or in one', async () => {
    const path = await file('');
    await expectRefused(['--data', path], `--data: cannot use ${path}: EEXIST`);
    await expectRefused(['--data', join(path, 'data')], 'ENOTDIR');
  });

  it('is a data directory that may not be written', async () => {
    const path = fresh();
    await mkdir(path, { mode: 0o555 });
    await chmod(folder, 0o755);
    // Permissions do not restrict root.
    const options = process.getuid?.() === 0 ? { as: 65_534 } : {};
    await expectRefused(['--data', path], 'EACCES', options);
    await expectRefused(['--data', join(path, 'data')], 'EACCES', options);
  });

  it('is a data directory whose key others may read, or whose key is damaged', async () => {
    const service = await startService({ data: fresh() });
    await service.stop();
    const key = join(service.data, 'master.key');
    expect((await stat(key)).mode & 0o777).toBe(0o600);
    await chmod(key, 0o644);
    await expectRefused(['--data', service.data], `run: chmod 600 ${key}`);
    await chmod(key, 0o600);
    await writeFile(key, 'short');
    await expectRefused(['--data', service.data], 'has 5 bytes instead of 32; restore it from a backup');
  });

  it('is a data directory whose key is gone, and none is made', async () => {
    const data = fresh();
    const service = await startService({ data });
    await service.stop();
    const key = join(data, 'master.key');
    const kept = await readFile(key);
    await rm(key);
    const before = await readdir(data);
    await expectRefused(['--data', data], 'it has a table, but no master.key to decrypt it: restore the file');
    const { code, stderr } = await runProgram(['customer', 'list', '--data', data]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^[^\n]*no master\.key[^\n]*\n$/) as string,
    });
    expect(await readdir(data)).toEqual(before);
    await writeFile(key, kept, { mode: 0o600 });
    expect(await (await startService({ data })).stop()).toBe(0);
  });

  it('is a data directory with the key of another one, and nothing is sealed with that', async () => {
    const data = fresh();
    await (await startService({ data })).stop();
    const key = join(data, 'master.key');
    const kept = await readFile(key);
    const table = await readFile(join(data, 'table', 'data.mdb'));
    await writeFile(key, Buffer.alloc(32, 'wrong'));
    const refusal = 'its table was encrypted with another master.key: restore that one from a backup';
    await expectRefused(['--data', data], refusal);
    await expectRefused(['--data', data, '--accounts', await file('[]')], refusal);
    const { code, stderr } = await runProgram(['customer', 'list', '--data', data]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: `stillage: --data: cannot use ${data}: ${refusal}\n` });
    expect((await readFile(join(data, 'table', 'data.mdb'))).equals(table)).toBe(true);
    await writeFile(key, kept);
    expect(await (await startService({ data })).stop()).toBe(0);
  });

  it('is a data directory whose table is damaged', async () => {
    for (const damaged of ['damaged', Buffer.alloc(8192)]) {
      const path = fresh();
      await mkdir(join(path, 'table'), { recursive: true });
      await writeFile(join(path, 'table', 'data.mdb'), damaged);
      await expectRefused(['--data', path], 'data.mdb is not a table; restore it from a backup');
    }
    const path = fresh();
    await mkdir(join(path, 'table'), { recursive: true });
    await writeFile(join(path, 'table', 'data.mdb'), '');
    const service = await startService({ data: path });
    expect(await service.stop()).toBe(0);
  });

  it('cannot be read by others, even if it was created that way', async () => {
    const data = fresh();
    /** Returns the modes of the paths that are accessible to users other than the owner. */
    const open = async (): Promise<Record<string, string>> => {
      const found = await readdir(data, { recursive: true });
      // Files that try whether the disk can be written come and go.
      const paths = ['.', ...found.filter((path) => !path.includes('.probe-'))];
      const modes = await Promise.all(paths.map(async (path) => [path, (await stat(join(data, path))).mode] as const));
      return Object.fromEntries(
        modes.filter(([, mode]) => mode & 0o077).map(([path, mode]) => [path, mode.toString(8)]),
      );
    };
    const service = await startService({ data });
    const client = sdk({ url: service.url }, alice, { maxAttempts: 1 });
    await client.send(new CreateBucketCommand({ Bucket: 'bucket' }));
    for (const size of [10, 100_000]) await put(client, 'bucket', `${size}`, Buffer.alloc(size));
    client.destroy();
    expect(await open()).toEqual({});
    const scrub = await runProgram(['scrub', '--data', data]);
    expect({ ...scrub, open: await open() }).toMatchObject({ code: 0, open: {} });
    await service.stop();
    for (const path of ['.', 'table', 'blobs', 'blobs/7f']) await chmod(join(data, path), 0o755);
    for (const path of ['data.mdb', 'lock.mdb']) await chmod(join(data, 'table', path), 0o644);
    const again = await startService({ data });
    expect(await open()).toEqual({});
    await again.stop();
  });
});
