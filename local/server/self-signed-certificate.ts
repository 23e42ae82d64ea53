import { generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { day, hour } from '../../shared/ports/durations.ts';

/** A certificate and its private key, in PEM. */
export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/*
 * A certificate (RFC 5280) has few fields, which are written here: a package that writes them would make the program a third larger.
 */

/** The validity of a certificate: browsers and Apple's systems accept at most 398 days, https://support.apple.com/en-us/102028. */
const validity = 397 * day;
/** The age of a new certificate, for clients whose clock is behind. */
const age = hour;

const oids = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
  extendedKeyUsage: '551d25',
  serverAuthentication: '2b06010505070301',
} as const;

/**
 * Makes a key (ECDSA, P-256) and the certificate of a server that it signs itself.
 * @param names host names, also `*.example.com`, and IP addresses
 * @param now milliseconds since the epoch
 */
export function selfSignedCertificate(names: readonly string[], now: number): TlsPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(oids.ecdsaWithSha256));
  const owner = sequence(der(0x31, sequence(oid(oids.commonName), der(0x0c, Buffer.from('Stillage self-signed')))));
  const from = now - age;
  // No authority: whoever trusts it trusts it for its names alone. No key usage: OpenSSL 1.1 would require that of signing certificates, and
  // newer ones grant that to authorities only.
  const extensions = [
    extension(oids.basicConstraints, sequence(), true),
    extension(oids.extendedKeyUsage, sequence(oid(oids.serverAuthentication))),
    extension(oids.subjectAltName, sequence(...names.map(generalName))),
  ];
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, serialNumber()),
    algorithm,
    owner,
    sequence(time(from), time(from + validity)),
    owner,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const certificate = sequence(signed, algorithm, der(0x03, Buffer.of(0), sign('sha256', signed, privateKey)));
  return {
    cert: Buffer.from(new X509Certificate(certificate).toString()),
    key: Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

/** Encodes a value in DER, https://www.itu.int/rec/T-REC-X.690. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(0x30, ...parts);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function extension(id: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(oid(id), ...(isCritical ? [der(0x01, Buffer.of(0xff))] : []), der(0x04, value));
}

/** Returns a random positive number, without leading zeros. */
function serialNumber(): Buffer {
  const serial = randomBytes(16);
  serial[0] = 0x40 | (serial[0]! & 0x3f);
  return serial;
}

/** Two digits of the year until 2049: https://www.rfc-editor.org/rfc/rfc5280#section-4.1.2.5 */
function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replaceAll(/\.\d+|[-:T]/g, '');
  return digits < '2050' ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}

function generalName(name: string): Buffer {
  return isIP(name) === 0 ? der(0x82, Buffer.from(name)) : der(0x87, addressBytes(name));
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [before, after] = [head, tail].map((text) => text.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - before!.length - after!.length).fill('0');
  return Buffer.from([...before!, ...zeros, ...after!].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
