import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { day } from '../../../shared/ports/durations.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import { selfSignedCertificate, type TlsPair } from '../self-signed-certificate.ts';

/** The time before the end of its validity in which a certificate is made again. */
const renewal = 30 * day;

/** Returns the files of the certificate that a service on this data directory makes itself, as if they were given. */
export function ownFiles(data: string): { readonly tlsCert: string; readonly tlsKey: string } {
  return { tlsCert: join(data, 'self-signed.crt'), tlsKey: join(data, 'self-signed.key') };
}

/** Returns the names and addresses by which clients on this machine, or of these options, reach the service. */
export function ownNames({
  host,
  domain,
  websiteDomain,
}: Pick<StartOptions, 'host' | 'domain' | 'websiteDomain'>): readonly string[] {
  const domains = [domain, websiteDomain].flatMap((name) => [name, `*.${name}`]);
  // The zone of a link-local address is the client's own.
  const listening = host.replace(/%.*/, '');
  const isEverywhere = listening === '0.0.0.0' || /^[0:]+$/.test(listening);
  const names = ['localhost', '127.0.0.1', '::1', ...domains, ...(isEverywhere ? [] : [listening])];
  return [...new Set(names.map((name) => name.toLowerCase()))];
}

/**
 * Makes the certificate of a data directory, unless it has one that covers the names and stays valid for a while. No other service may use
 * the directory.
 * @throws OperatorError if it cannot be read or written
 */
export async function ensureOwnCertificate(data: string, names: readonly string[], now: number): Promise<void> {
  const { tlsCert, tlsKey } = ownFiles(data);
  try {
    const [cert, key] = await Promise.all([tlsCert, tlsKey].map(readIfThere));
    if (cert && key && isUsable({ cert, key }, names, now)) return;
    const made = selfSignedCertificate(names, now);
    await replace(tlsKey, made.key);
    await replace(tlsCert, made.cert);
  } catch (cause) {
    throw new OperatorError(`--tls self-signed: ${(cause as Error).message}`);
  }
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

async function replace(path: string, content: Buffer): Promise<void> {
  const draft = `${path}.draft`;
  await writeFile(draft, content, { mode: 0o600 });
  await rename(draft, path);
}

function isUsable({ cert, key }: TlsPair, names: readonly string[], now: number): boolean {
  try {
    const certificate = new X509Certificate(cert);
    const { validFrom, validTo, subjectAltName = '' } = certificate;
    const covered = new Set(subjectAltName.split(', '));
    return (
      Date.parse(validFrom) <= now &&
      now < Date.parse(validTo) - renewal &&
      names.every((name) =>
        isIP(name) === 0 ? covered.has(`DNS:${name}`) : certificate.checkIP(name) !== undefined,
      ) &&
      certificate.checkPrivateKey(createPrivateKey(key))
    );
  } catch {
    // A file that was damaged, or a pair of which only one was written.
    return false;
  }
}
