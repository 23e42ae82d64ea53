import type { Acl } from '../../access/acl.ts';
import type { Caller } from '../../access/identity.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { WriteConditions } from '../../http/fields/preconditions.ts';
import type { Bucket } from '../../storage/buckets/bucket.ts';
import type { ObjectAuthorisation } from '../../storage/version-changes/object-authorisation.ts';
import type { Reservation } from '../../storage/quotas/quotas.ts';
import { versionIdOf, type Version } from '../../storage/versions/versions.ts';
import {
  customerOf,
  encryptionFields,
  encryptionIn,
  wantedKey,
  type Unvalidated,
  type WantedEncryption,
} from './encryption.ts';
import { readExpirations } from './expiration-header.ts';
import { grantsOf } from '../acls/acl-document.ts';
import { grantsOfUpload } from '../acls/granted-acl.ts';
import { checksumFields } from './object-headers.ts';
import { checkLock } from './object-lock.ts';
import type { Services } from '../operation.ts';
import { ownerOfNew } from '../authorisation/ownership.ts';
import type { Payload } from '../bodies/payload.ts';
import { storeBody, type StoredBody } from '../bodies/store-body.ts';
import type { UploadHeaders } from './upload-headers.ts';
import { writeGuard } from './write-guard.ts';

/** An object uploaded in one request: PutObject, or PostObject with its form. */
export interface Upload {
  readonly headers: UploadHeaders;
  readonly encryption: Unvalidated<WantedEncryption>;
  readonly conditions: WriteConditions;
  /** The MD5 of the bytes in hex, according to the client. */
  readonly expectedEtag?: string | undefined;
  /** The whole ACL of what the service itself stores, in place of one that is asked for. */
  readonly acl?: Acl;
}

/** An upload that is durable and visible. */
export interface StoredObject extends Pick<StoredBody, 'md5' | 'checksum'> {
  readonly version: Version;
  /** The header about its expiration, if it expires. */
  readonly expiration: readonly (readonly [name: string, value: string])[];
}

interface Deps extends Pick<
  Services,
  'buckets' | 'clock' | 'contents' | 'objects' | 'projects' | 'quotas' | 'settings'
> {
  readonly authorisation: ObjectAuthorisation;
  readonly bucket: Bucket;
  readonly caller: Caller;
  readonly payload: Payload;
}

/**
 * Stores the bytes of an upload, and then the object.
 * @throws S3Error as {@link readWantedEncryption}, {@link encryptionIn}, {@link checkLock}, {@link storeBody} and {@link grantsOfUpload},
 *   QuotaExceeded, UnprocessableEntity, PreconditionFailed and NoSuchKey (conditions); leaves nothing then
 */
export async function storeObject(upload: Upload, deps: Deps): Promise<StoredObject> {
  const { bucket, payload, quotas } = deps;
  const wanted = encryptionIn(bucket, upload.encryption());
  checkLock(upload.headers.lock, bucket, deps.clock.now());
  const reservation = await quotas.reserve(bucket, { bytes: payload.length ?? 0, objects: 1 });
  try {
    return await storeReserved(upload, wanted, deps, reservation);
  } finally {
    reservation.release();
  }
}

async function storeReserved(
  upload: Upload,
  wanted: WantedEncryption,
  deps: Deps,
  reservation: Reservation,
): Promise<StoredObject> {
  const { authorisation, bucket, contents, objects, payload, caller, settings } = deps;
  const { expectedEtag, conditions } = upload;
  const { key } = authorisation;
  const owner = ownerOfNew(caller, bucket, upload.headers.acl);
  const grants = upload.acl
    ? grantsOf(upload.acl, owner)
    : await grantsOfUpload(upload.headers.acl, owner, bucket, deps);
  const { record, blobs } = contents.encryption(wantedKey(wanted));
  const stored = await storeBody(payload, { bucketId: bucket.id, key }, blobs, settings.limits);
  try {
    if (payload.length === undefined) await reservation.add({ bytes: stored.size, objects: 0 });
    if (expectedEtag !== undefined && expectedEtag !== stored.md5.toString('hex')) {
      throw new S3Error('UnprocessableEntity');
    }
    const { systemMetadata, storageClass, lock, headers, metadata, tags } = upload.headers;
    const expirations = await readExpirations(deps, bucket);
    const version = await objects.put(
      authorisation,
      {
        marker: false,
        size: stored.size,
        md5: stored.md5,
        content: stored.content,
        encryption: record,
        owner,
        ...systemMetadata,
        storageClass,
        ...lock,
        checksum: stored.checksum,
        objectAttributes: { headers, metadata, tags, ...grants },
      },
      { guard: writeGuard(conditions) },
    );
    return { version, md5: stored.md5, checksum: stored.checksum, expiration: expirations(key, version, tags) };
  } catch (error) {
    await stored.giveUp(error);
    throw error;
  }
}

/** Returns the response headers of an upload. */
export function storedFields(
  { version, md5, checksum, expiration }: StoredObject,
  { encryption }: Upload,
): (readonly [name: string, value: string])[] {
  const wanted = encryption();
  return [
    ['etag', `"${md5.toString('hex')}"`],
    ['x-amz-version-id', versionIdOf(version)],
    ...expiration,
    ...checksumFields(checksum),
    ...encryptionFields(version.encryption, customerOf(wanted)),
    ...(wanted.kind === 'customer' ? [['accept-ranges', 'bytes'] as const] : []),
  ];
}
