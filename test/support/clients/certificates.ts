import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/** Files (PEM) of a server's certificate and of the authority that issued it, which no client trusts by itself. */
export interface Certificates {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

/** Issues a certificate for names and IP addresses, by an authority that is forgotten at once. */
export async function issueCertificate(folder: string, names: readonly string[]): Promise<Certificates> {
  const kind = { keyType: 'ec', algorithm: 'sha256' } as const;
  const authority = await generate([{ name: 'commonName', value: 'Stillage test authority' }], {
    ...kind,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const server = await generate([{ name: 'commonName', value: names[0]! }], {
    ...kind,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: names.map((name) => (/^[\d.]+$/.test(name) ? { type: 7, ip: name } : { type: 2, value: name })),
      },
    ],
  });
  const write = async (file: string, text: string): Promise<string> => {
    const path = join(folder, file);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  return {
    authority: await write('authority.pem', authority.cert),
    certificate: await write('server.pem', server.cert),
    key: await write('server.key', server.private),
  };
}

/** Options of `stillage start` for a scheme, and the authority (PEM) that its clients have to trust. */
export interface SchemeOptions {
  readonly tls: readonly string[];
  readonly authority: string | undefined;
}

/** Returns the options for a service on loopback over `http` or `https`. @param folder for the certificate */
export async function schemeOptions(scheme: string, folder: string): Promise<SchemeOptions> {
  if (scheme !== 'https') return { tls: [], authority: undefined };
  const { authority, certificate, key } = await issueCertificate(folder, ['127.0.0.1', 'localhost']);
  return { tls: ['--tls-cert', certificate, '--tls-key', key], authority: await readFile(authority, 'utf8') };
}
