import { encodeAcl, groupOf, withoutRepeats, type Grant } from '../../../shared/access/acl.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { Fields } from '../../../shared/http/message.ts';
import type { S3Endpoint } from '../../../shared/ports/s3-endpoint.ts';
import { tagLimits } from '../../../shared/protocol/limits.ts';
import { encryptionIn, wantedKey } from '../../../shared/protocol/objects/encryption.ts';
import { readUploadHeaders } from '../../../shared/protocol/objects/upload-headers.ts';
import type { Services } from '../../../shared/protocol/operation.ts';
import { readTagging } from '../../../shared/protocol/tags.ts';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import { storageClassOf, type Content } from '../../../shared/storage/versions/stored-values.ts';
import type { ObjectAttributes } from '../../../shared/storage/versions/object-attributes.ts';
import type { CurrentVersion, Version } from '../../../shared/storage/versions/versions.ts';
import { deleteMarker, type NewVersion } from '../../../shared/storage/version-changes/new-version.ts';
import { OutcomeUnknown } from '../../../shared/storage/version-changes/outcomes.ts';
import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { parsedXml } from '../../../shared/xml/reader.ts';
import type { ByteRate } from './byte-rate.ts';
import { copyContent, statedChecksum, Untrue, type CopiedContent } from './copied-content.ts';
import { NotCopied } from './destination.ts';
import { isNamed, parsedEtag } from './key-plan.ts';
import { PartSizes, type Division } from './part-sizes.ts';
import type { SourceVersion } from './source-listing.ts';
import { describing, documentOf, refusalOf, requestOf, type OfVersion } from './source-version.ts';

/** How often an object is read again whose bytes do not come as they were announced. */
const attempts = 3;

export interface VersionImportDeps {
  readonly endpoint: S3Endpoint;
  readonly services: Services;
  readonly rate: ByteRate;
  /** Whether grants of objects are read, which takes a request for each. */
  readonly acls: boolean;
  /** Called with what a copy lacks, or has otherwise. */
  readonly onLoss: (what: string) => void;
}

/** A version to copy, and where to. */
export interface VersionImport {
  /** The bucket of the source. */
  readonly from: string;
  readonly key: string;
  readonly version: SourceVersion;
  readonly to: Bucket;
  /** The current version here, on top of which it is put. */
  readonly above: Version | undefined;
}

/**
 * Copies a version on top of those that are here, with its time, its ETag and all that describes it.
 * @throws NotCopied
 */
export async function importVersion(deps: VersionImportDeps, job: VersionImport): Promise<CurrentVersion> {
  const { version, to } = job;
  if (version.marker) return put(deps, job, { ...deleteMarker(job.key), owner: to.project });
  const reservation = await deps.services.quotas.reserve(to, { bytes: version.size, objects: 1 });
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await copyOnce(deps, job);
      } catch (error) {
        if (!isOfReading(error)) throw refusalOf(error);
        if (attempt === attempts) throw new NotCopied((error as Error).message);
      }
    }
  } finally {
    reservation.release();
  }
}

/** Failures of a transfer, which may not come again. */
function isOfReading(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return (
    error instanceof Untrue ||
    (error instanceof Error &&
      typeof code === 'string' &&
      /^E[A-Z]+$/.test(code) &&
      !(error instanceof S3Error) &&
      code !== 'ENOSPC')
  );
}

async function copyOnce(deps: VersionImportDeps, job: VersionImport): Promise<CurrentVersion> {
  const { endpoint } = deps;
  const { from: bucket, key, version, to } = job;
  const request = requestOf(bucket, key, version);
  const etag = parsedEtag(version.etag);
  const parts =
    etag?.partCount === undefined ? undefined : new PartSizes(endpoint, request, version.size, etag.partCount);
  // Before the bytes, whose response would be left open by a failure.
  const likely = await parts?.likely();
  const { fields, bytes } = await endpoint.send({
    ...request,
    method: 'GET',
    fields: { 'x-amz-checksum-mode': 'ENABLED' },
  });
  const described = await description(deps, job, fields).catch(async (error: unknown) => {
    await bytes[Symbol.asyncIterator]().return?.();
    throw error;
  });
  const wanted = encryptionIn(to, { kind: fields['x-amz-server-side-encryption'] === undefined ? 'none' : 'managed' });
  const { record: encryption, blobs } = deps.services.contents.encryption(wantedKey(wanted));
  const refs: string[] = [];
  const read = (of: AsyncIterable<Uint8Array>, division: Division | undefined): Promise<CopiedContent> =>
    copyContent(deps.rate.limited(of), division?.sizes ?? [version.size], statedChecksum(fields), {
      ...{ blobs, refs },
      owner: { bucketId: to.id, key },
    });
  const discard = (): Promise<void> => blobs.remove(refs.splice(0)).catch(() => undefined);
  try {
    let division = likely;
    let copied = await read(bytes, division);
    const isTrue = (): boolean => etag!.md5.equals(etag!.partCount === undefined ? copied.md5 : copied.combinedMd5);
    if (parts && !isTrue() && division?.isTold !== true) {
      division = await parts.told();
      if (division) {
        await discard();
        copied = await read((await endpoint.send({ ...request, method: 'GET' })).bytes, division);
      }
    }
    const kept = keptEtag(deps, version, fields, copied, etag !== undefined && isTrue(), division?.isTold === true);
    const content = await contentOf(deps, version, copied, kept.isOfBytes);
    const { md5, partCount } = kept;
    const attributes = {
      marker: false,
      size: version.size,
      md5,
      partCount,
      content,
      encryption,
      checksum: copied.checksum,
    };
    try {
      return await put(deps, job, { ...attributes, ...described });
    } catch (error) {
      if (content?.kind === 'manifest' && !(error instanceof OutcomeUnknown)) {
        await deps.services.contents.manifests.remove(content.id).catch(() => undefined);
      }
      throw error;
    }
  } catch (error) {
    if (error instanceof OutcomeUnknown) blobs.abandon(refs);
    else await discard();
    throw error;
  }
}

/** Returns what an ETag is stored as. It is the source's, if it has the form of one. @throws Untrue */
function keptEtag(
  { onLoss }: VersionImportDeps,
  version: SourceVersion,
  fields: Readonly<Record<string, string>>,
  copied: CopiedContent,
  isTrue: boolean,
  isTold: boolean,
): { readonly md5: Buffer; readonly partCount: number | undefined; readonly isOfBytes: boolean } {
  if (fields['etag'] !== undefined && fields['etag'].replaceAll('"', '') !== version.etag) {
    throw new Untrue('it was replaced at the source meanwhile, or its ETag is not that of the listing');
  }
  const etag = parsedEtag(version.etag);
  if (etag === undefined) {
    onLoss(`its ETag ${JSON.stringify(version.etag)} is no MD5: it has one now`);
    return { md5: copied.md5, partCount: undefined, isOfBytes: true };
  }
  if (isTrue) return { ...etag, isOfBytes: etag.partCount === undefined };
  const isSealed = fields['x-amz-server-side-encryption']?.startsWith('aws:kms') === true;
  if (!isSealed && (etag.partCount === undefined || isTold)) throw new Untrue('its bytes are not those of its ETag');
  onLoss(
    isSealed
      ? 'its ETag is kept, but is no checksum, as KMS encrypts it at the source'
      : 'its ETag is kept, but could not be checked, as the source does not tell the sizes of its parts',
  );
  return { ...etag, isOfBytes: false };
}

/** @param isOfBytes the MD5 of the version is that of the bytes, which a scrub of a single blob checks */
async function contentOf(
  { services }: VersionImportDeps,
  { size }: SourceVersion,
  { parts }: CopiedContent,
  isOfBytes: boolean,
): Promise<Content | undefined> {
  if (size === 0) return undefined;
  if (isOfBytes) return { kind: 'blob', ref: parts[0]!.blob };
  return { kind: 'manifest', id: await services.contents.manifests.create(parts) };
}

type Described = Pick<
  NewVersion,
  'owner' | 'objectAttributes' | 'contentType' | 'storageClass' | 'retention' | 'legalHold'
>;

/** @throws NotCopied */
async function description(
  deps: VersionImportDeps,
  { from, key, version, to }: VersionImport,
  fields: Readonly<Record<string, string>>,
): Promise<Described> {
  const { settings } = deps.services;
  const shown = describing(fields);
  const given = shown['x-amz-storage-class'];
  // Stores have classes of their own, and an object of an archive was restored if its bytes could be read.
  if (given !== undefined && storageClassOf(given) === undefined) {
    delete shown['x-amz-storage-class'];
    deps.onLoss(`its storage class ${JSON.stringify(given)} is not known here: it is STANDARD`);
  }
  const known = new Fields(Object.entries(shown));
  const upload = (() => {
    try {
      return readUploadHeaders(known, settings.limits);
    } catch (error) {
      throw refusalOfDocument(error);
    }
  })();
  const { systemMetadata, storageClass, lock, headers, metadata } = upload;
  const isLocked = lock.retention !== undefined || lock.legalHold !== undefined;
  if (isLocked && to.objectLock === undefined) deps.onLoss('copied without its lock, as the bucket has none');
  if (fields['x-amz-missing-meta'] !== undefined)
    deps.onLoss(`copied without ${fields['x-amz-missing-meta']} of its metadata, which the source does not show`);
  const of = requestOf(from, key, version);
  const hasTags = Number(fields['x-amz-tagging-count'] ?? 0) > 0;
  return {
    owner: to.project,
    ...systemMetadata,
    storageClass,
    ...(to.objectLock !== undefined && lock),
    objectAttributes: {
      ...{ headers, metadata },
      tags: hasTags ? await tagsOf(deps, of) : [],
      ...(deps.acls && to.objectOwnership !== 'BucketOwnerEnforced' && (await grantsOf(deps, of, to.project))),
    },
  };
}

async function tagsOf(deps: VersionImportDeps, of: OfVersion): Promise<ObjectAttributes['tags']> {
  const text = await documentOf(deps.endpoint, of, 'tagging', 'its tags', deps.onLoss);
  if (text === undefined) return [];
  try {
    return readTagging(text, tagLimits(deps.services.settings.limits, 'tagsPerObject')).map(({ key, value }) => [
      key,
      value,
    ]);
  } catch (error) {
    throw refusalOfDocument(error);
  }
}

/** Returns the grants to groups: accounts of another store are nobody here. */
async function grantsOf(
  deps: VersionImportDeps,
  of: OfVersion,
  owner: string,
): Promise<Pick<ObjectAttributes, 'grants'>> {
  const text = await documentOf(deps.endpoint, of, 'acl', 'its ACL', deps.onLoss);
  if (text === undefined) return {};
  const root = rootOf(text);
  const ownId = root.optional('Owner')?.optional('ID')?.text;
  const acl: Grant[] = [{ grantee: { project: owner }, permission: 'FULL_CONTROL' }];
  let others = 0;
  for (const grant of root.one('AccessControlList').many('Grant')) {
    const grantee = grant.one('Grantee');
    const permission = grant.one('Permission').text as Grant['permission'];
    const group = groupOf(grantee.optional('URI')?.text ?? '', deps.services.settings.allUsersGroupUri);
    if (group !== undefined) acl.push({ grantee: { group }, permission });
    else if (grantee.optional('ID')?.text !== ownId) others += 1;
  }
  if (others > 0) deps.onLoss(`copied without ${others} of its grants, which are to accounts of the source`);
  return acl.length === 1 ? {} : { grants: encodeAcl(withoutRepeats(acl)) };
}

/** @throws NotCopied */
function rootOf(text: Uint8Array): ReturnType<typeof parsedXml>['root'] {
  try {
    return parsedXml(text).root;
  } catch (error) {
    throw refusalOfDocument(error);
  }
}

function refusalOfDocument(error: unknown): unknown {
  return error instanceof S3Error ? new NotCopied(`${error.code}: ${error.message}`) : error;
}

async function put(
  { services }: VersionImportDeps,
  { key, version, to, above }: VersionImport,
  fresh: NewVersion,
): Promise<CurrentVersion> {
  const expected = above?.marker === true ? undefined : above?.instance;
  const imported = { lastModified: version.lastModified, imported: { named: isNamed(version) } };
  return services.objects
    .put(
      asService(to, key),
      { ...fresh, ...imported },
      {
        guard: (current) => {
          if (current?.instance !== expected) throw new NotCopied('somebody has written here meanwhile');
        },
      },
    )
    .catch((error: unknown) => {
      if (error instanceof S3Error && error.code === 'QuotaExceeded') throw new OperatorError(error.message);
      throw error;
    });
}
