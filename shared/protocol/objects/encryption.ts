import { createHash } from 'node:crypto';
import { invalidArgument, S3Error } from '../../errors/s3-error.ts';
import { isKeyOf, type EncryptionRecord } from '../../encryption/customer-key.ts';
import type { Fields } from '../../http/message.ts';
import type { BucketSettings } from '../../storage/buckets/bucket-settings.ts';
import type { WantedKey } from '../../storage/objects/contents.ts';
import type { Settings } from '../operation.ts';
import { unsupportedHeader } from '../unsupported.ts';

/*
 * Server-side encryption with a customer's key (SSE-C) or the service's key (SSE-S3, `AES256`).
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/ServerSideEncryptionCustomerKeys.html
 */

/** A customer's key in a request. Never stored or logged. */
export interface CustomerKey {
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** As sent: base64 of 16 bytes. */
  readonly md5: string;
}

/** The encryption that an upload asks for. */
export type WantedEncryption =
  | { readonly kind: 'none' }
  | { readonly kind: 'managed' }
  | { readonly kind: 'customer'; readonly customer: CustomerKey };

const managedField = 'x-amz-server-side-encryption';
const customerFields = `${managedField}-customer-`;

/** The connection of a request: keys must be sent over TLS, except in tests on one machine. */
interface Channel {
  readonly fields: Fields;
  readonly secure: boolean;
  readonly remoteAddress: string;
  readonly settings: Pick<Settings, 'customerKeys'>;
}

/**
 * Header values that are validated on the first call: by `act`, after policies, which see the headers as sent. A Deny
 * of an invalid value is therefore a 403.
 */
export type Unvalidated<Value> = () => Value;

/**
 * Reads the encryption that an upload asks for.
 * @returns a function that throws the S3Error for the fault, NotImplemented for KMS
 */
export function readWantedEncryption(channel: Channel): Unvalidated<WantedEncryption> {
  return remembered(() => parseWantedEncryption(channel));
}

/**
 * Reads a customer's key, whose three headers must all be present, or none.
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
 * Returns the encryption of a new object: from its request, or otherwise the bucket's default.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucket-encryption.html
 * @throws S3Error AccessDenied, as {@link checkNotBlocked}
 */
export function encryptionIn({ encryption }: BucketSettings, wanted: WantedEncryption): WantedEncryption {
  checkNotBlocked({ encryption }, wanted.kind);
  return wanted.kind === 'none' && encryption?.algorithm !== undefined ? { kind: 'managed' } : wanted;
}

/**
 * Refuses writes with a customer's key if the bucket blocks them.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/blocking-unblocking-s3-c-encryption-gpb.html
 * @throws S3Error AccessDenied
 */
export function checkNotBlocked({ encryption }: BucketSettings, kind: WantedEncryption['kind'] | undefined): void {
  if (kind === 'customer' && encryption?.blockedTypes?.includes('SSE-C')) throw new S3Error('AccessDenied');
}

/** Returns the key to encrypt an upload with. */
export function wantedKey(wanted: WantedEncryption): WantedKey {
  return wanted.kind === 'customer' ? wanted.customer.key : wanted.kind === 'managed' ? 'managed' : undefined;
}

/** Returns the customer's key in an upload, for the headers of its response. */
export function customerOf(wanted: WantedEncryption): CustomerKey | undefined {
  return wanted.kind === 'customer' ? wanted.customer : undefined;
}

/**
 * Checks that a request has the key that a version needs.
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

/** Returns the response headers about a version's encryption. */
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
