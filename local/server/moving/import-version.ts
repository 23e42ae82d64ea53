import { encodeAcl, groupOf, withoutRepeats, type Grant } from '../../../shared/access/acl.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { Fields } from '../../../shared/http/message.ts';
import { RequestRefused, type S3Endpoint, type S3Request } from '../../../shared/ports/s3-endpoint.ts';
import { tagLimits } from '../../../shared/protocol/limits.ts';
import { encryptionIn, wantedKey } from '../../../shared/protocol/objects/encryption.ts';
import { readUploadHeaders } from '../../../shared/protocol/objects/upload-headers.ts';
import type { Services } from '../../../shared/protocol/operation.ts';
import { readTagging } from '../../../shared/protocol/tags.ts';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import type { Content } from '../../../shared/storage/versions/stored-values.ts';
import type { ObjectAttributes } from '../../../shared/storage/versions/object-attributes.ts';
import type { CurrentVersion, Version } from '../../../shared/storage/versions/versions.ts';
import { deleteMarker, type NewVersion } from '../../../shared/storage/version-changes/new-version.ts';
import { OutcomeUnknown } from '../../../shared/storage/version-changes/outcomes.ts';
import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import { parsedXml } from '../../../shared/xml/reader.ts';
import type { ByteRate } from './byte-rate.ts';
import { copyContent, statedChecksum, Untrue, type CopiedContent } from './copied-content.ts';
import { isNamed, parsedEtag } from './key-plan.ts';
import { PartSizes, type Division } from './part-sizes.ts';
import { wholeOf, type SourceVersion } from './source-listing.ts';

/** How often an object is read again whose bytes do not come as they were announced. */
const attempts = 3;
const maxDocument = 1024 * 1024;

/** A version that was not copied, and why. */
export class NotCopied extends Error {
  /** Nothing would change that: newer versions of the key need not wait for it. */
  readonly isFinal: boolean;

  constructor(message: string, { isFinal = false }: { readonly isFinal?: boolean } = {}) {
    super(message);
    this.isFinal = isFinal;
  }
}

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
        if (!isOfReading(error) || attempt === attempts) throw error instanceof Error ? refusalOf(error) : error;
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

function refusalOf(error: Error): Error {
  if (error instanceof Untrue || isOfReading(error)) return new NotCopied(error.message);
  if (!(error instanceof RequestRefused)) return error;
  const { status, code, message } = error;
  if (status === 404) return new NotCopied('it is gone at the source', { isFinal: true });
  if (code === 'InvalidObjectState') return new NotCopied('it is archived at the source', { isFinal: true });
  if (status === 400) {
    const why = `it cannot be read without the key of its owner (SSE-C): ${code}`;
    return new NotCopied(why, { isFinal: true });
  }
  return new NotCopied(`${code}: ${message}`);
}

async function copyOnce(deps: VersionImportDeps, job: VersionImport): Promise<CurrentVersion> {
  const { endpoint } = deps;
  const { from: bucket, key, version, to } = job;
  const query = queryOf(version);
  const request = { bucket, key, query };
  const etag = parsedEtag(version.etag);
  const parts =
    etag?.partCount === undefined ? undefined : new PartSizes(endpoint, request, version.size, etag.partCount);
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
    let division = await parts?.likely();
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

/** Headers of a response that are read as those of an upload. */
const described =
  /^(?:content-(?:type|disposition|encoding|language)|cache-control|expires|x-amz-(?:meta-.+|website-redirect-location|storage-class|object-lock-.+))$/;

/** @throws NotCopied */
async function description(
  deps: VersionImportDeps,
  { from, key, version, to }: VersionImport,
  fields: Readonly<Record<string, string>>,
): Promise<Described> {
  const { settings } = deps.services;
  const known = new Fields(Object.entries(fields).filter(([name]) => described.test(name)));
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
  const of = { bucket: from, key, query: queryOf(version) };
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

type Of = Pick<S3Request, 'bucket' | 'key' | 'query'>;

async function tagsOf(deps: VersionImportDeps, of: Of): Promise<ObjectAttributes['tags']> {
  const text = await subresource(deps, of, 'tagging', 'its tags');
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
async function grantsOf(deps: VersionImportDeps, of: Of, owner: string): Promise<Pick<ObjectAttributes, 'grants'>> {
  const text = await subresource(deps, of, 'acl', 'its ACL');
  if (text === undefined) return {};
  const { root } = parsedXml(text);
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

/** Returns a document about a version; undefined if the source has none, or does not show it. */
async function subresource(deps: VersionImportDeps, of: Of, name: string, what: string): Promise<Buffer | undefined> {
  try {
    const { bytes } = await deps.endpoint.send({ ...of, method: 'GET', query: { ...of.query, [name]: '' } });
    return await wholeOf(bytes, maxDocument);
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    if (error.status >= 500 && error.status !== 501) throw new NotCopied(`${what}: ${error.code}`);
    if (error.status !== 404) deps.onLoss(`copied without ${what}: ${error.code}`);
    return undefined;
  }
}

function refusalOfDocument(error: unknown): unknown {
  return error instanceof S3Error ? new NotCopied(`${error.code}: ${error.message}`) : error;
}

function queryOf({ id }: SourceVersion): Readonly<Record<string, string>> {
  return id === undefined ? {} : { versionId: id };
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
