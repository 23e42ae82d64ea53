import { createHmac } from 'node:crypto';
import { awsWords, basicTime, type Key, type Words } from './signer.ts';

/*
 * Forms as browsers send them, and their signatures written down from the documentation:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-UsingHTTPPOST.html
 */

export type FormField = readonly [name: string, value: string | Uint8Array];

/** A file of a form. */
export interface FormFile {
  /** Default: `file`. */
  readonly name?: string;
  /** None if null. */
  readonly fileName?: string | null;
  /** The Content-Type of the part. */
  readonly type?: string;
  readonly content: string | Uint8Array;
}

export const boundary = '----WebKitFormBoundaryStillage';

export const formType = `multipart/form-data; boundary=${boundary}`;

/** Returns the part of a form before the content of its file. */
export function formStart(
  fields: readonly FormField[],
  { name = 'file', fileName = 'f.txt', type }: Omit<FormFile, 'content'> = {},
): Buffer {
  const quoted = fileName === null ? '' : `; filename="${fileName}"`;
  return Buffer.concat([
    fieldParts(fields),
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${quoted}\r\n`),
    Buffer.from(type === undefined ? '\r\n' : `Content-Type: ${type}\r\n\r\n`),
  ]);
}

export const formEnd = Buffer.from(`\r\n--${boundary}--\r\n`);

/** Returns the body of a form: fields, a file, and the fields after it. */
export function formBody(fields: readonly FormField[], file?: FormFile, after: readonly FormField[] = []): Buffer {
  const end = Buffer.from(`--${boundary}--\r\n`);
  if (file === undefined) return Buffer.concat([fieldParts(fields), end]);
  const content = Buffer.from(file.content);
  return Buffer.concat([formStart(fields, file), content, Buffer.from('\r\n'), fieldParts(after), end]);
}

function fieldParts(fields: readonly FormField[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([name, value]) => [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
      Buffer.from(value),
      Buffer.from('\r\n'),
    ]),
  );
}

/** The text of a policy that is valid for an hour. */
export function policyText(
  conditions: unknown,
  expiration: unknown = new Date(Date.now() + 3600_000).toISOString(),
): string {
  return Buffer.from(JSON.stringify({ expiration, conditions })).toString('base64');
}

/** The fields that sign a policy text with version 2. */
export function signedV2(key: Key, policy: string, keyField = 'AWSAccessKeyId'): FormField[] {
  const signature = createHmac('sha1', key.secretAccessKey).update(policy).digest('base64');
  return [
    [keyField, key.accessKeyId],
    ['policy', policy],
    ['signature', signature],
  ];
}

/** The fields that sign conditions with version 4, which are conditions themselves. */
export function signedV4(
  key: Key,
  conditions: readonly unknown[],
  { words = awsWords, time = Date.now(), region = 'us-east-1' }: { words?: Words; time?: number; region?: string } = {},
): FormField[] {
  const date = basicTime(time);
  const scope = [date.slice(0, 8), region, words.service, words.terminator];
  const fields = {
    'x-amz-algorithm': words.algorithm,
    'x-amz-credential': [key.accessKeyId, ...scope].join('/'),
    'x-amz-date': date,
  };
  const policy = policyText([...conditions, ...Object.entries(fields).map(([name, value]) => ({ [name]: value }))]);
  const signature = [...scope, policy].reduce<Buffer>(
    (secret, text) => createHmac('sha256', secret).update(text).digest(),
    Buffer.from(words.prefix + key.secretAccessKey),
  );
  return [...Object.entries(fields), ['policy', policy], ['x-amz-signature', signature.toString('hex')]];
}
