import type { S3Place } from '../ports/backup-target.ts';
import { read } from './option-values.ts';
import { s3AddressOf } from './s3-address.ts';

const likeThis =
  "like s3://bucket/prefix?endpoint=https://s3.example.com&region=us-east-1; credentials are those of AWS's SDK.";

/** The place of backups: the path of a directory, or the address of a bucket in an S3. */
export const backupPlace = read((text, refuse) =>
  text === '' || text.includes('\0') || (isS3(text) && s3PlaceOf(text) === undefined)
    ? refuse(`Must be a directory, or ${likeThis}`)
    : text,
);

/** The address of a bucket in an S3 for the bytes of objects. */
export const blobPlace = read((text, refuse) => s3PlaceOf(text) ?? refuse(`Must be ${likeThis}`));

/** Returns the place in an S3; undefined for the path of a directory. */
export function s3PlaceOf(text: string): S3Place | undefined {
  const address = s3AddressOf(text);
  if (address?.bucket === undefined) return undefined;
  const { bucket, prefix, endpoint, region } = address;
  return { bucket, prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`, endpoint, region };
}

function isS3(text: string): boolean {
  return text.startsWith('s3:');
}
