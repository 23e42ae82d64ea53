import { createHash } from 'node:crypto';
import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import { isKeyOf, type EncryptionRecord } from '../../encryption/customer-key.ts';
import type { Fields } from '../../http/message.ts';
import type { BucketSettings } from '../../metadata/buckets/bucket-settings.ts';
import type { WantedKey } from '../../metadata/objects/contents.ts';
import type { Settings } from '../operation.ts';
import { unsupportedHeader } from '../unsupported.ts';

/*
 * Server-side encryption with a customer's key (SSE-C) and with the service's (SSE-S3, `AES256`).
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/ServerSideEncryptionCustomerKeys.html
 */

/** A key that came with a request. It is never stored or logged. */
export interface CustomerKey {
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** As sent: base64 of 16 bytes. */
  readonly md5: string;
}

/** What an upload asks for. */
export type WantedEncryption =
  | { readonly kind: 'none' }
  | { readonly kind: 'managed' }
  | { readonly kind: 'customer'; readonly customer: CustomerKey };

const managedField = 'x-amz-server-side-encryption';
const customerFields = `${managedField}-customer-`;

/** The part of a request that says how it came: keys travel over TLS only, but for tests on one machine. */
interface Channel {
  readonly fields: Fields;
  readonly secure: boolean;
  readonly remoteAddress: string;
  readonly settings: Pick<Settings, 'customerKeys'>;
}

/**
 * What a request says in headers, whose values are judged at the first call: by `act`, when policies, which know the headers as they
 * were sent, have had their say. So a Deny of a wrong value is 403.
 */
export type Unvalidated<Value> = () => Value;

/**
 * Reads the encryption that an upload asks for.
 * @returns a function that throws S3Error as the table of SSE faults says, NotImplemented for KMS
 */
export function readWantedEncryption(channel: Channel): Unvalidated<WantedEncryption> {
  return remembered(() => parseWantedEncryption(channel));
}

/**
 * Reads a customer's key: all three of its headers, or none.
 * @param prefix `x-amz-copy-source-` for the key of a copy's source
 * @returns a function that throws S3Error InvalidRequest, InvalidEncryptionAlgorithmError, InvalidArgument
 */
export function readCustomerKey(
  channel: Channel,
  prefix: '' | 'x-amz-copy-source-' = '',
): Unvalidated<CustomerKey | undefined> {
  return remembered(() => parseCustomerKey(channel, prefix));
}

function remembered<Value>(parse: () => Value): Unvalidated<Value> {
  let known: { readonly value: Value } | undefined;
  return () => (known ??= { value: parse() }).value;
}

function parseWantedEncryption(channel: Channel): WantedEncryption {
  const customer = parseCustomerKey(channel);
  const managed = parseManaged(channel.fields);
  if (customer && managed) {
    throw new S3Error('InvalidArgument', {
      message: 'Server Side Encryption with Customer provided key is incompatible with the encryption method specified',
    });
  }
  return customer ? { kind: 'customer', customer } : { kind: managed ? 'managed' : 'none' };
}

function parseManaged(fields: Fields): boolean {
  const value = fields.get(managedField);
  if (value === undefined || value === 'AES256') return value !== undefined;
  if (value.startsWith('aws:kms')) {
    throw unsupportedHeader(managedField);
  }
  throw invalidArgument(managedField, value, 'The encryption method specified is not supported');
}

function parseCustomerKey(
  { fields, secure, remoteAddress, settings }: Channel,
  prefix: '' | 'x-amz-copy-source-' = '',
): CustomerKey | undefined {
  const start = prefix === '' ? customerFields : `x-amz-copy-source-server-side-encryption-customer-`;
  const [algorithm, key64, md5] = ['algorithm', 'key', 'key-md5'].map((name) => fields.get(start + name));
  if (algorithm === undefined && key64 === undefined && md5 === undefined) return undefined;
  if (settings.customerKeys === false || (!secure && !isLoopback(remoteAddress))) {
    throw new S3Error('InvalidRequest', {
      message:
        'Requests specifying Server Side Encryption with Customer provided keys must be made over a secure connection.',
    });
  }
  if (algorithm === undefined) throw missing(`${start}algorithm`, 'a valid encryption algorithm');
  if (algorithm !== 'AES256') {
    throw new S3Error('InvalidEncryptionAlgorithmError', { details: { ArgumentName: `${start}algorithm` } });
  }
  if (key64 === undefined) throw missing(`${start}key`, 'an appropriate secret key');
  if (md5 === undefined) throw missing(`${start}key-MD5`, 'the MD5 of the secret key');
  const key = Buffer.from(key64, 'base64');
  if (key.byteLength !== 32 || key.toString('base64') !== key64) {
    throw new S3Error('InvalidArgument', {
      message: 'The secret key was invalid for the specified algorithm.',
      details: { ArgumentName: `${start}key` },
    });
  }
  if (createHash('md5').update(key).digest('base64') !== md5) {
    throw new S3Error('InvalidArgument', {
      message: 'The calculated MD5 hash of the key did not match the hash that was provided.',
      details: { ArgumentName: `${start}key-MD5` },
    });
  }
  return { key, md5 };
}

function missing(name: string, what: string): S3Error {
  return new S3Error('InvalidArgument', {
    message: `Requests specifying Server Side Encryption with Customer provided keys must provide ${what}.`,
    details: { ArgumentName: name },
  });
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/**
 * The encryption of a new object: what its request asks for, else the bucket's default.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-encryption.html
 * @throws S3Error AccessDenied, as {@link checkNotBlocked}
 */
export function encryptionIn({ encryption }: BucketSettings, wanted: WantedEncryption): WantedEncryption {
  checkNotBlocked({ encryption }, wanted.kind);
  return wanted.kind === 'none' && encryption?.algorithm !== undefined ? { kind: 'managed' } : wanted;
}

/**
 * Refuses to write with a customer's key where the bucket blocks that.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/blocking-unblocking-s3-c-encryption-gpb.html
 * @throws S3Error AccessDenied
 */
export function checkNotBlocked({ encryption }: BucketSettings, kind: WantedEncryption['kind'] | undefined): void {
  if (kind === 'customer' && encryption?.blockedTypes?.includes('SSE-C')) throw new S3Error('AccessDenied');
}

/** The key that an upload is to be encrypted with. */
export function wantedKey(wanted: WantedEncryption): WantedKey {
  return wanted.kind === 'customer' ? wanted.customer.key : wanted.kind === 'managed' ? 'managed' : undefined;
}

/** The customer's key that came with an upload, to be named in its answer. */
export function customerOf(wanted: WantedEncryption): CustomerKey | undefined {
  return wanted.kind === 'customer' ? wanted.customer : undefined;
}

/**
 * Whether a request brings what a version's bytes need.
 * @throws S3Error InvalidRequest: a key that is missing, wrong, or not applicable
 */
export function checkCustomerKey(record: EncryptionRecord | undefined, customer: CustomerKey | undefined): void {
  if (record?.kind !== 'customer') {
    if (customer === undefined) return;
    throw new S3Error('InvalidRequest', { message: 'The encryption parameters are not applicable to this object.' });
  }
  if (customer === undefined) {
    throw new S3Error('InvalidRequest', {
      message:
        'The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.',
    });
  }
  if (!isKeyOf(customer.key, record)) {
    throw new S3Error('InvalidRequest', {
      message: 'The provided encryption parameters did not match the ones used originally to encrypt the object.',
    });
  }
}

type Field = readonly [name: string, value: string];

/** What an answer says of a version's encryption. */
export function encryptionFields(
  record: EncryptionRecord | undefined,
  customer: CustomerKey | undefined,
): readonly Field[] {
  if (record === undefined) return [];
  if (record.kind === 'managed') return [[managedField, 'AES256']];
  return [
    [`${customerFields}algorithm`, 'AES256'],
    ...(customer ? [[`${customerFields}key-MD5`, customer.md5] as const] : []),
  ];
}
