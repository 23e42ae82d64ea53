import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startStillage } from '../../local/package/index.ts';
import { issueCertificate, type Certificates } from '../support/clients/certificates.ts';
import { startService, type Service } from '../support/programs/server.ts';
import { eventually } from '../support/runs/eventually.ts';

let folder: string;
let first: Certificates;
let second: Certificates;
let inUse: { readonly certificate: string; readonly key: string };
let service: Service;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-certificates-'));
  [first, second] = (await Promise.all(['first', 'second'].map(issued))) as [Certificates, Certificates];
  inUse = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  await install(first);
  service = await startService({ args: ['--tls-cert', inUse.certificate, '--tls-key', inUse.key] });
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

async function issued(name: string): Promise<Certificates> {
  const own = join(folder, name);
  await mkdir(own);
  return issueCertificate(own, ['127.0.0.1']);
}

async function install({ certificate, key }: Certificates): Promise<void> {
  await copyFile(certificate, `${inUse.certificate}.new`);
  await copyFile(key, `${inUse.key}.new`);
  await rename(`${inUse.certificate}.new`, inUse.certificate);
  await rename(`${inUse.key}.new`, inUse.key);
}

/** Asks for its health on a new connection, of which only this authority's certificate is trusted. */
async function health({ authority }: Certificates, port = service.port): Promise<string> {
  const ca = await readFile(authority, 'utf8');
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca }, () => {
      socket.write('GET /_stillage/health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
    });
    let text = '';
    socket.setEncoding('utf8').on('data', (more: string) => (text += more));
    socket.once('error', reject).once('end', () => resolve(text.split('\r\n')[0]!));
  });
}

const problems = (): readonly string[] =>
  service.output.stdout.split('\n').filter((line) => line.includes('the new certificate is not used'));

it('a certificate that is of no use is logged once and the former stays; a new one is used without a restart', async () => {
  expect(await health(first)).toBe('HTTP/1.1 200 OK');

  await writeFile(inUse.certificate, 'nonsense');
  await eventually(() => expect(problems()).toHaveLength(1));
  expect(JSON.parse(problems()[0]!)).toMatchObject({
    message: expect.stringContaining('are not a certificate and its key') as string,
  });
  expect(await health(first)).toBe('HTTP/1.1 200 OK');

  await install(second);
  await eventually(async () => expect(await health(second)).toBe('HTTP/1.1 200 OK'));
  await expect(health(first)).rejects.toThrow(/certificate/);

  await rm(inUse.key);
  await eventually(() => expect(problems()).toHaveLength(2));
  expect(problems()[1]).toContain('cannot read');
  expect(await health(second)).toBe('HTTP/1.1 200 OK');
});

it('a new one is used by a service within a program, too', async () => {
  await install(first);
  const stillage = await startStillage({
    port: 0,
    ephemeral: true,
    tlsCert: inUse.certificate,
    tlsKey: inUse.key,
  });
  const port = Number(new URL(stillage.endpoint).port);
  expect(await health(first, port)).toBe('HTTP/1.1 200 OK');
  await install(second);
  await eventually(() => health(second, port));
  await stillage.stop();
});
