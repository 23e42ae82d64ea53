import type { Checksum, ChecksumAlgorithm, ChecksumType } from '../../checksums/algorithms.ts';
import { decodeEncryption, encodeEncryption, type EncryptionRecord } from '../../encryption/customer-key.ts';
import { S3Error } from '../../errors/s3-error.ts';
import type { Attributes, Item } from '../../ports/key-value-table.ts';
import type { NewVersion } from '../version-changes/new-version.ts';
import {
  decodeChecksum,
  decodeChecksumKind,
  decodeStorageClass,
  encodeChecksum,
  encodeChecksumKind,
  encodeStorageClass,
  type ChecksumKind,
  type StorageClass,
} from '../versions/stored-values.ts';
import { decodeRetention, encodeRetention, type LegalHold, type ObjectLock } from '../versions/object-lock.ts';
import {
  decodeObjectAttributes,
  encodeObjectAttributes,
  type ObjectAttributes,
} from '../versions/object-attributes.ts';
import {
  decodeSystemMetadata,
  encodeSystemMetadata,
  systemMetadataOf,
  type SystemMetadata,
} from '../versions/versions.ts';
import { uploadKeyParts } from '../table/keys/upload-keys.ts';

/** Longer ids are not looked up, since they might not fit into the key of an item. */
export const maxIdLength = 64;

/** The attributes of the future object, from CreateMultipartUpload. */
export interface NewUpload extends SystemMetadata, ObjectLock {
  /** The canonical id of the future owner of the object. `initiator` is that of the project that started the upload. */
  readonly owner: string;
  readonly initiator: string;
  /** Undefined: STANDARD. */
  readonly storageClass?: StorageClass | undefined;
  readonly objectAttributes: ObjectAttributes;
  readonly encryption: EncryptionRecord | undefined;
  /** The checksum that every part must have, if any. */
  readonly checksum: ChecksumKind | undefined;
  /** The request headers that policies may need again when parts are uploaded. */
  readonly asked?: Readonly<Record<string, string>> | undefined;
}

export interface Upload extends NewUpload {
  readonly id: string;
  readonly bucketId: string;
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly initiated: number;
  readonly token: string;
  /** The number of releases of parts that were uploaded again: see `Uploads.releaseOldParts`. */
  readonly releases: number;
  readonly state: 'open' | 'completed' | 'aborted';
  /** The result of CompleteMultipartUpload, returned again if the request is repeated. */
  readonly result: CompletedUpload | undefined;
  /** The id of the manifest that CompleteMultipartUpload wrote. */
  readonly picked: string | undefined;
  /** The bytes of its items, which count towards quotas while it is open. Uploads of version 0.2 have 0. */
  readonly held: number;
}

export interface CompletedUpload {
  readonly md5: Uint8Array;
  readonly partCount: number;
  readonly versionId: string;
  readonly checksum: Checksum | undefined;
}

/** An open upload as it is in the list of its bucket. */
export interface ListedUpload {
  readonly key: string;
  readonly id: string;
  readonly initiated: number;
  readonly initiator: string;
  readonly owner: string;
  /** Undefined: STANDARD. */
  readonly storageClass?: StorageClass | undefined;
  /** Undefined: its creation named none, or was by version 0.3 or earlier. */
  readonly checksum?: ChecksumKind | undefined;
}

/** An uploaded part. Uploading a number again adds another part. The newest counts, or the newest with a given ETag. */
export interface Part {
  /** Sorts by age. */
  readonly id: string;
  readonly number: number;
  readonly blob: string | undefined;
  readonly size: number;
  readonly md5: Uint8Array;
  readonly checksum: Checksum | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Creates a 404 error that names the upload. */
export function noSuchUpload(id: string): S3Error {
  return new S3Error('NoSuchUpload', { details: { UploadId: id } });
}

/** Returns the version that a completed upload puts. */
export function versionOf(upload: Upload, size: number, result: CompletedUpload, manifest: string): NewVersion {
  const { owner, storageClass, retention, legalHold, objectAttributes, encryption } = upload;
  const { md5, partCount, checksum } = result;
  return {
    marker: false,
    size,
    md5,
    partCount,
    content: { kind: 'manifest', id: manifest },
    owner,
    ...systemMetadataOf(upload),
    storageClass,
    retention,
    legalHold,
    checksum,
    encryption,
    objectAttributes,
  };
}

/** Encodes the state of an upload, the item under `stateKey`. */
export function encodeState(upload: Upload): Attributes {
  const { checksum, result } = upload;
  const storageClass = encodeStorageClass(upload.storageClass);
  return {
    state: upload.state,
    bucketId: upload.bucketId,
    key: upload.key,
    initiated: upload.initiated,
    initiator: upload.initiator,
    owner: upload.owner,
    ...encodeSystemMetadata(upload),
    ...(storageClass !== undefined && { sc: storageClass }),
    ...(upload.retention && { l: encodeRetention(upload.retention) }),
    ...(upload.legalHold && { lh: upload.legalHold }),
    ...encodeObjectAttributes(upload.objectAttributes),
    ...(upload.encryption && { x: encodeEncryption(upload.encryption) }),
    ...(checksum && { algorithm: checksum.algorithm, type: checksum.type }),
    ...(upload.asked && { asked: upload.asked }),
    ...(upload.picked !== undefined && { picked: upload.picked }),
    ...(result && {
      result: {
        md5: result.md5,
        parts: result.partCount,
        version: result.versionId,
        ...(result.checksum && { k: encodeChecksum(result.checksum) }),
      },
    }),
    ...(upload.releases > 0 && { releases: upload.releases }),
    ...(upload.held > 0 && { held: upload.held }),
    r: upload.token,
  };
}

/** Decodes what {@link encodeState} encoded. */
export function decodeState(id: string, item: Attributes): Upload {
  const result = item['result'] as Attributes | undefined;
  const algorithm = item['algorithm'] as ChecksumAlgorithm | undefined;
  const encryption = item['x'] as Uint8Array | undefined;
  return {
    id,
    state: item['state'] as Upload['state'],
    bucketId: item['bucketId'] as string,
    key: item['key'] as string,
    initiated: item['initiated'] as number,
    initiator: item['initiator'] as string,
    owner: item['owner'] as string,
    ...decodeSystemMetadata(item),
    storageClass: decodeStorageClass(item['sc']),
    retention: decodeRetention(item['l']),
    legalHold: item['lh'] as LegalHold | undefined,
    objectAttributes: decodeObjectAttributes(item),
    encryption: encryption && decodeEncryption(encryption),
    checksum: algorithm && { algorithm, type: item['type'] as ChecksumType },
    asked: item['asked'] as Upload['asked'],
    picked: item['picked'] as string | undefined,
    result: result && {
      md5: result['md5'] as Uint8Array,
      partCount: result['parts'] as number,
      versionId: result['version'] as string,
      checksum: decodeChecksum(result['k']),
    },
    releases: (item['releases'] as number | undefined) ?? 0,
    held: (item['held'] as number | undefined) ?? 0,
    token: item['r'] as string,
  };
}

/** Encodes the entry of an upload in the list of its bucket. */
export function encodeListed({ key, id, initiated, initiator, owner, ...upload }: ListedUpload): Attributes {
  const storageClass = encodeStorageClass(upload.storageClass);
  return {
    ...{ key, id, initiated, initiator, owner },
    ...(storageClass !== undefined && { sc: storageClass }),
    ...(upload.checksum && { k: encodeChecksumKind(upload.checksum) }),
  };
}

/** Decodes what {@link encodeListed} encoded. */
export function decodeListed(item: Attributes): ListedUpload {
  return {
    key: item['key'] as string,
    id: item['id'] as string,
    initiated: item['initiated'] as number,
    initiator: item['initiator'] as string,
    owner: item['owner'] as string,
    storageClass: decodeStorageClass(item['sc']),
    checksum: item['k'] === undefined ? undefined : decodeChecksumKind(item['k'] as string),
  };
}

/** Encodes a part, the item under `partKey`. */
export function encodePart(part: Part): Attributes {
  return {
    ...(part.blob !== undefined && { blob: part.blob }),
    size: part.size,
    md5: part.md5,
    at: part.at,
    ...(part.checksum && { k: encodeChecksum(part.checksum) }),
  };
}

/** Decodes what {@link encodePart} encoded. */
export function decodePart({ key, attributes }: Item): Part {
  return {
    ...uploadKeyParts.part(key)!,
    blob: attributes['blob'] as string | undefined,
    size: attributes['size'] as number,
    md5: attributes['md5'] as Uint8Array,
    at: attributes['at'] as number,
    checksum: decodeChecksum(attributes['k']),
  };
}
