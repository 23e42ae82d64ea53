import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect } from 'node:tls';
import { GetObjectCommand, PutBucketPolicyCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startStillage } from '../../local/package/index.ts';
import { runProgram } from '../support/programs/program.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { freePort } from '../support/runs/free-port.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-self-signed-'));
});
afterAll(() => rm(folder, { recursive: true }));

const start = (data: string, ...args: readonly string[]): Promise<Service> =>
  startService({ data: join(folder, data), args: ['--tls', 'self-signed', ...args] });

/** What a start prints about its certificate, which is checked against the file. */
async function printed({ output, url }: Service): Promise<{ path: string; fingerprint: string; ca: string }> {
  const [, fingerprint, path] = /SHA-256 ([0-9A-F:]{95})\. To trust it:\n {2}export AWS_CA_BUNDLE=(\S+)\n/.exec(
    output.stderr,
  )!;
  expect(output.stderr).toContain(
    `\n  curl --cacert ${path} ${url.replace('0.0.0.0', 'localhost')}/_stillage/health\n`,
  );
  const ca = await readFile(path!, 'utf8');
  expect(new X509Certificate(ca).fingerprint256).toBe(fingerprint);
  return { path: path!, fingerprint: fingerprint!, ca };
}

/** Asks for its health by this host name on a new connection, which trusts the authority alone. Returns the status line. */
async function health(port: number, ca: string, servername = 'localhost'): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', servername, port, ca }, () => {
      socket.write('GET /_stillage/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    });
    let text = '';
    socket.setEncoding('utf8').on('data', (more: string) => (text += more));
    socket.once('error', reject).once('end', () => resolve(text.split('\r\n')[0]!));
  });
}

const ok = 'HTTP/1.1 200 OK';

/** Writes an object with the SDK and reads it. */
async function roundTrip(client: S3Client, bucket: string): Promise<string> {
  await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'key', Body: 'bytes' }));
  return (await client.send(new GetObjectCommand({ Bucket: bucket, Key: 'key' }))).Body!.transformToString();
}

const trusting = (ca: string): { httpsAgent: Agent } => ({ httpsAgent: new Agent({ ca }) });

it('tells policies the version of TLS', async () => {
  const service = await start('tls-version', '--buckets', 'photos');
  const { ca } = await printed(service);
  const client = new S3Client({
    ...{ endpoint: service.url, region: 'us-east-1', credentials: { ...alice }, forcePathStyle: true },
    requestHandler: trusting(ca),
  });
  const deny = (operator: string) => {
    const statement = { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::photos/*' };
    const Statement = [{ ...statement, Condition: { [operator]: { 's3:TlsVersion': '1.2' } } }];
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement });
    return client.send(new PutBucketPolicyCommand({ Bucket: 'photos', Policy }));
  };
  await deny('NumericLessThanIfExists');
  expect(await roundTrip(client, 'photos')).toBe('bytes');
  await deny('NumericGreaterThanEquals');
  await expect(roundTrip(client, 'photos')).rejects.toMatchObject({ name: 'AccessDenied' });
  client.destroy();
  await service.stop();
});

it('serves clients who trust what it prints, the console as well, and with the same certificate after a restart', async () => {
  const consolePort = await freePort();
  const args = ['--domain', 's3.test', '--buckets', 'photos', '--console-port', String(consolePort)];
  const first = await start('data', ...args);
  expect(first.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const { path, fingerprint, ca } = await printed(first);
  expect(path).toBe(join(folder, 'data', 'self-signed.crt'));
  expect((await stat(join(folder, 'data', 'self-signed.key'))).mode & 0o777).toBe(0o600);

  const client = new S3Client({
    ...{ endpoint: first.url, region: 'us-east-1', credentials: { ...alice }, forcePathStyle: true },
    requestHandler: trusting(ca),
  });
  expect(await roundTrip(client, 'photos')).toBe('bytes');
  client.destroy();
  expect(await health(first.port, ca, 'photos.s3.test')).toBe(ok);
  await expect(health(first.port, ca, 'nas.home')).rejects.toThrow(/does not match/);
  expect(first.output.stderr).toContain(`The console is at https://127.0.0.1:${consolePort}:`);
  const page = await new Promise<string>((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', servername: 'localhost', port: consolePort, ca }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    }).once('error', reject);
  });
  expect(page).toBe(fingerprint);
  expect(await first.stop()).toBe(0);

  const second = await start('data', ...args);
  expect((await printed(second)).fingerprint).toBe(fingerprint);
  expect(await health(second.port, ca)).toBe(ok);
  expect(await second.stop()).toBe(0);

  const renamed = await start('data', '--domain', 'nas.home');
  const changed = await printed(renamed);
  expect(changed.fingerprint).not.toBe(fingerprint);
  expect(await health(renamed.port, changed.ca, 'photos.nas.home')).toBe(ok);
  await expect(health(renamed.port, ca)).rejects.toThrow(/self-signed certificate/);
  expect(await renamed.stop()).toBe(0);
});

it('is that of every process, and a second service leaves it alone', async () => {
  const service = await start('two', '--workers', '2');
  const { path, ca } = await printed(service);
  const asked = await Promise.all(Array.from({ length: 20 }, () => health(service.port, ca)));
  expect(asked).toEqual(asked.map(() => ok));

  const other = ['start', '--port', '0', '--data', service.data, '--tls', 'self-signed', '--domain', 'other.test'];
  expect((await runProgram(other)).code).toBe(1);
  expect(await readFile(path, 'utf8')).toBe(ca);
  expect(await service.stop()).toBe(0);
});

it('of an ephemeral service leaves nothing behind, and its key is on no disk', async () => {
  const service = await start('none', '--ephemeral', '--host', '0.0.0.0');
  const { path, ca } = await printed(service);
  expect(await health(service.port, ca)).toBe(ok);
  expect(existsSync(join(folder, 'none'))).toBe(false);
  expect(await readFile(path, 'utf8')).not.toContain('PRIVATE KEY');
  expect(await service.stop()).toBe(0);
  expect(existsSync(dirname(path))).toBe(false);
});

it('is told to a new user among the settings of the first key', async () => {
  const service = await startService({ accounts: false, args: ['--tls', 'self-signed'] });
  const { path } = await printed(service);
  expect(service.output.stderr).toContain(`export AWS_ENDPOINT_URL=${service.url}\n  export AWS_CA_BUNDLE=${path}\n`);
  const { stdout } = await runProgram(['key', 'list', 'main@local', '--json', '--data', service.data]);
  const [{ accessKeyId }] = JSON.parse(stdout) as [{ accessKeyId: string }];
  const env = await runProgram(['env', accessKeyId, '--data', service.data, '--tls', 'self-signed']);
  expect(env.stdout).toContain('export AWS_ENDPOINT_URL=https://127.0.0.1:9000\n');
  expect(await service.stop()).toBe(0);
});

it.each([
  ['ephemeral', { ephemeral: true }],
  ['durable', { credentials: { ...alice } }],
] as const)('of a service within a program is one of its properties: %s', async (name, options) => {
  const data = join(folder, `within-${name}`);
  const stillage = await startStillage({ port: 0, tls: 'self-signed', buckets: ['photos'], data, ...options });
  const ca = stillage.certificate!;
  const client = new S3Client({ ...stillage.clientConfig, requestHandler: trusting(ca) });
  expect(await roundTrip(client, 'photos')).toBe('bytes');
  client.destroy();
  const { AWS_CA_BUNDLE: path, NODE_EXTRA_CA_CERTS: same } = stillage.env;
  expect([await readFile(path!, 'utf8'), same]).toEqual([ca, path]);
  await stillage.stop();
  expect(existsSync(path!)).toBe(name === 'durable');
});

it('is refused beside files, or of another kind, within a program', async () => {
  const kinds: readonly (readonly [object, RegExp])[] = [
    [{ tls: 'self-signed', tlsCert: 'cert.pem' }, /^--tls self-signed makes a certificate itself: leave out[^\n]*$/],
    [{ tls: 'yes' }, /^startStillage: tls: Must be self-signed[^\n]*$/],
  ];
  for (const [options, message] of kinds) {
    await expect(startStillage({ port: 0, ephemeral: true, ...options })).rejects.toThrow(message);
  }
});
