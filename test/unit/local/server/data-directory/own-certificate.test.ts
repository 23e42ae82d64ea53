import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  ensureOwnCertificate,
  ownFiles,
  ownNames,
} from '../../../../../local/server/data-directory/own-certificate.ts';
import { selfSignedCertificate } from '../../../../../local/server/self-signed-certificate.ts';
import { day } from '../../../../../shared/ports/durations.ts';

const names = ownNames({ host: '127.0.0.1', domain: 's3.test', websiteDomain: 'web.test' });
const now = Date.parse('2026-03-01T12:00:00Z');

let data: string;
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-certificate-'));
  data = folder;
  onTestFinished(() => rm(folder, { recursive: true }));
});

async function fingerprint(wanted = names, at = now): Promise<string> {
  await ensureOwnCertificate(data, wanted, at);
  return new X509Certificate(await readFile(ownFiles(data).tlsCert)).fingerprint256;
}

describe('a certificate of a data directory', () => {
  it('is of the service’s names, for a year, with a key for its owner alone', async () => {
    await ensureOwnCertificate(data, ownNames({ host: '::1', domain: 'S3.test', websiteDomain: 'web.test' }), now);
    const { tlsCert, tlsKey } = ownFiles(data);
    const certificate = new X509Certificate(await readFile(tlsCert));
    const wanted = ['localhost', 's3.test', 'photos.s3.test', 'web.test', 'photos.web.test'];
    expect(wanted.map((name) => certificate.checkHost(name) !== undefined)).toEqual(wanted.map(() => true));
    expect(['127.0.0.1', '::1', '::2'].map((ip) => certificate.checkIP(ip))).toEqual(['127.0.0.1', '::1', undefined]);
    expect(certificate.checkHost('s4.test')).toBeUndefined();
    expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect([certificate.ca, certificate.verify(certificate.publicKey)]).toEqual([false, true]);
    const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
    expect(from).toBeLessThan(now);
    expect((to - from) / day).toBe(397);
    expect((await stat(tlsKey)).mode & 0o777).toBe(0o600);
  });

  it('stays while it is of use', async () => {
    const first = await fingerprint();
    expect(await fingerprint()).toBe(first);
    expect(await fingerprint(names, now + 366 * day)).toBe(first);
    expect(await fingerprint(names.slice(1))).toBe(first);
  });

  it.each([
    ['about to expire', names, now + 368 * day],
    ['expired', names, now + 1000 * day],
    ['not valid yet', names, now - day],
    ['without a name', [...names, 'nas.home'], now],
    ['without a wildcard', [...names, '*.nas.home'], now],
    ['without an address', [...names, '192.0.2.7'], now],
  ])('is made again if it is %s', async (_, wanted, at) => {
    const first = await fingerprint();
    const second = await fingerprint(wanted, at);
    expect(second).not.toBe(first);
    expect(await fingerprint(wanted, at)).toBe(second);
  });

  it.each(['tlsCert', 'tlsKey'] as const)(
    'is made again if %s is missing, damaged or of another pair',
    async (file) => {
      const path = ownFiles(data)[file];
      const other = selfSignedCertificate(names, now)[file === 'tlsCert' ? 'cert' : 'key'];
      const breaks = [() => rm(path), () => writeFile(path, 'nonsense'), () => writeFile(path, other)];
      for (const makeUseless of breaks) {
        const before = await fingerprint();
        await makeUseless();
        expect(await fingerprint()).not.toBe(before);
        expect((await stat(ownFiles(data).tlsKey)).mode & 0o777).toBe(0o600);
      }
    },
  );

  it('that cannot be kept is refused in one line', async () => {
    await expect(ensureOwnCertificate(join(data, 'none'), names, now)).rejects.toThrow(
      /^--tls self-signed: ENOENT[^\n]*$/,
    );
  });
});

describe('names', () => {
  const domains = { domain: 's3.test', websiteDomain: 'web.test' };

  it.each(['0.0.0.0', '::', '0:0:0:0:0:0:0:0', '127.0.0.1', '::1', 'localhost', 'LOCALHOST'])('have no %s', (host) => {
    expect(ownNames({ ...domains, host })).toEqual(names);
  });

  it.each([
    ['Nas.Home', 'nas.home'],
    ['192.0.2.7', '192.0.2.7'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('have the host %s', (host, name) => {
    expect(ownNames({ ...domains, host })).toEqual([...names, name]);
  });
});

describe('a self-signed certificate', () => {
  it('has addresses of every form', () => {
    const addresses = ['192.0.2.255', '::', '::1', 'fe80::1', '2001:db8::', '2001:db8:1:2:3:4:5:6', '::ffff:192.0.2.1'];
    const certificate = new X509Certificate(selfSignedCertificate(addresses, now).cert);
    for (const address of addresses) expect(certificate.checkIP(address), address).toBe(address);
  });

  it('has dates beyond 2049, and as many names as there may be', () => {
    const later = Date.parse('2049-06-01T00:00:00Z');
    const many = Array.from({ length: 400 }, (_, index) => `${index}.example.com`);
    const certificate = new X509Certificate(selfSignedCertificate(many, later).cert);
    expect(new Date(certificate.validFrom).toISOString()).toBe('2049-05-31T23:00:00.000Z');
    expect(new Date(certificate.validTo).toISOString()).toBe('2050-07-02T23:00:00.000Z');
    expect(many.every((name) => certificate.checkHost(name) !== undefined)).toBe(true);
  });

  it('is valid by the strict rules of OpenSSL, which Python applies', async (context) => {
    if (spawnSync('openssl', ['version']).status !== 0) context.skip('needs openssl');
    await ensureOwnCertificate(data, names, Date.now());
    const { tlsCert } = ownFiles(data);
    const args = ['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_hostname', 'a.s3.test'];
    const { stdout, stderr } = spawnSync('openssl', [...args, '-CAfile', tlsCert, tlsCert], { encoding: 'utf8' });
    expect(stdout + stderr).toBe(`${tlsCert}: OK\n`);
  });
});
