import { copyObjectResult } from '../../shared/documents/copy.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { checkKey } from '../../shared/http/address.ts';
import { evaluated } from '../../shared/http/fields/preconditions.ts';
import type { Guard, NewVersion } from '../../shared/storage/version-changes/new-version.ts';
import { SourceGone } from '../../shared/storage/version-changes/outcomes.ts';
import { overItself, TooManyReferences } from '../../shared/storage/objects/content-references.ts';
import {
  contentOf,
  etagOf,
  systemMetadataOf,
  versionIdOf,
  type CurrentVersion,
  type Version,
} from '../../shared/storage/versions/versions.ts';
import { factsFrom } from '../../shared/protocol/authorisation/policy-facts.ts';
import {
  copyFacts,
  findSource,
  parseCopyRequest,
  parseDirective,
  sourceTagsQuestion,
  sourceVersionFields,
} from '../../shared/protocol/objects/copy-request.ts';
import {
  checkCustomerKey,
  customerOf,
  encryptionFields,
  encryptionIn,
  readCustomerKey,
  readWantedEncryption,
  wantedKey,
  type CustomerKey,
  type WantedEncryption,
} from '../../shared/protocol/objects/encryption.ts';
import { readExpirations } from '../../shared/protocol/objects/expiration-header.ts';
import { grantsOfUpload } from '../../shared/protocol/acls/granted-acl.ts';
import { measuredBytes, noBytes } from '../../shared/protocol/bodies/measured-bytes.ts';
import { checkLock } from '../../shared/protocol/objects/object-lock.ts';
import { readQuestion, uploadQuestions } from '../../shared/protocol/objects/questions.ts';
import { defineOperation, type Context } from '../../shared/protocol/operation.ts';
import { ownerOfNew } from '../../shared/protocol/authorisation/ownership.ts';
import { refuseSelection } from '../../shared/protocol/objects/part.ts';
import { storeBody } from '../../shared/protocol/bodies/store-body.ts';
import { parseAskedChecksum } from '../../shared/protocol/objects/upload-checksum.ts';
import { readUploadHeaders } from '../../shared/protocol/objects/upload-headers.ts';
import { writeComparison, writeGuard } from '../../shared/protocol/objects/write-guard.ts';
import type { ChecksumAlgorithm } from '../../shared/checksums/algorithms.ts';

const maxAttempts = 8;

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html */
export const copyObject = defineOperation({
  name: 'CopyObject',
  on: 'object',
  body: 'none',
  needs: { table: 'write', blobs: 'write' },
  conditions: evaluated.ofCopy,

  parse: (request, { target, source }) => {
    const { bucket, key, fields, settings } = request;
    checkKey(key, settings.limits.keyBytes);
    refuseSelection(request.query);
    return {
      bucket,
      key,
      copy: parseCopyRequest(fields, source),
      upload: readUploadHeaders(fields, settings.limits),
      metadataDirective: parseDirective(fields, 'x-amz-metadata-directive'),
      taggingDirective: parseDirective(fields, 'x-amz-tagging-directive'),
      conditions: target,
      checksumAlgorithm: parseAskedChecksum(fields),
      encryption: readWantedEncryption(request),
      sourceCustomer: readCustomerKey(request, 'x-amz-copy-source-'),
    };
  },

  sourceOf: ({ copy }) => copy.source,

  authorise: ({ copy, conditions, upload, taggingDirective }, request) => [
    readQuestion(copy.source),
    ...uploadQuestions(request, request.fields, taggingDirective === 'REPLACE' ? upload.tags : [], {
      isCopy: true,
      facts: { ...copyFacts(copy.source), ...factsFrom(request.fields, ['x-amz-metadata-directive']) },
    }),
    ...writeComparison(request, conditions),
  ],

  act: async (input, context) => {
    const { copy, key, upload, conditions, checksumAlgorithm } = input;
    const sourceCustomer = input.sourceCustomer();
    const { authorisation, bucket, objects, contentReferences, caller, quotas, settings, view } = context;
    const asked = input.encryption();
    const encryption = encryptionIn(bucket, asked);
    checkLock(upload.lock, bucket, context.clock.now());
    const from = await view.bucket(copy.source.bucket);
    const owner = ownerOfNew(caller, bucket, upload.acl);
    const grants = await grantsOfUpload(upload.acl, owner, bucket, context);
    const guard = writeGuard(conditions);
    const expirations = await readExpirations(context, bucket);

    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      if (attempt > 0) {
        view.forget();
        await context.authoriseLook(readQuestion(copy.source));
      }
      const source = await findSource(copy, from, view);
      refuseCopyOntoItself({ ...input, asked, encryption }, source);
      checkCustomerKey(source.encryption, sourceCustomer);
      if (source.size > settings.limits.singleUploadBytes) throw tooLarge(source.size);
      const growth = { bytes: source.size, objects: 1 };
      const kept = await view.objectAttributes(source);
      const takesTags = input.taggingDirective === 'COPY' && kept.tags.length > 0;
      if (takesTags) await context.authoriseLook(sourceTagsQuestion(copy.source));
      const replaced = input.metadataDirective === 'REPLACE';
      const fresh: NewVersion = {
        ...contentOf(source),
        marker: false,
        owner,
        ...(replaced ? upload.systemMetadata : systemMetadataOf(source)),
        storageClass: upload.storageClass,
        ...upload.lock,
        objectAttributes: {
          headers: {
            ...(replaced ? upload.headers : withoutRedirect(kept.headers)),
            ...redirectOf(upload.headers),
          },
          metadata: replaced ? upload.metadata : kept.metadata,
          tags: input.taggingDirective === 'REPLACE' ? upload.tags : kept.tags,
          ...grants,
        },
      };
      const share = (): Promise<Version> =>
        objects.put(authorisation, fresh, {
          guard,
          extras: contentReferences.from({ bucketId: from.id, key: copy.source.key, version: source }),
        });
      const copyAll = (): Promise<Version> =>
        copyBytes(context, { checksumAlgorithm, encryption, sourceCustomer }, source, fresh, guard);
      const reservation = await quotas.reserve(bucket, growth);
      try {
        const version = mustReadBytes(source, encryption, checksumAlgorithm)
          ? await copyAll()
          : await share().catch((error: unknown) => {
              if (error instanceof TooManyReferences) return copyAll();
              throw error;
            });
        return { version, source, from, expiration: expirations(key, version, fresh.objectAttributes.tags) };
      } catch (error) {
        if (!(error instanceof SourceGone)) throw error;
      } finally {
        reservation.release();
      }
    }
    throw new S3Error('SlowDown', { cause: new Error('the source changed at every attempt') });
  },

  render: ({ version, source, from, expiration }, { encryption }, { settings }) => ({
    fields: [
      ['x-amz-version-id', versionIdOf(version)],
      ...sourceVersionFields(from, source),
      ...expiration,
      ...encryptionFields(version.encryption, customerOf(encryption())),
    ],
    xml: copyObjectResult.write(
      {
        lastModified: version.lastModified,
        etag: etagOf(version),
        checksum: version.checksum && { ...version.checksum, parts: version.partCount },
      },
      settings.xmlNamespace,
    ),
  }),
});

/** Returns whether a copy must read the bytes: for a customer-provided key, encryption on one side only, or another checksum. */
function mustReadBytes(source: Version, wanted: WantedEncryption, algorithm: ChecksumAlgorithm | undefined): boolean {
  const recrypts = wanted.kind === 'customer' || (source.encryption?.kind ?? 'none') !== wanted.kind;
  return recrypts || (algorithm !== undefined && algorithm !== source.checksum?.algorithm);
}

/** Copies by reading the bytes, if needed or if too many versions share them. */
async function copyBytes(
  { authorisation, contents, objects, settings }: Context<'object', 'none'>,
  { checksumAlgorithm, encryption, sourceCustomer }: CopyInput,
  source: Version,
  fresh: NewVersion,
  guard: Guard | undefined,
): Promise<CurrentVersion> {
  const bytes = (await contents.read(source, undefined, sourceCustomer?.key)) ?? noBytes();
  const payload = measuredBytes(bytes, source.size, checksumAlgorithm ?? source.checksum?.algorithm ?? 'CRC64NVME');
  const { record, blobs } = contents.encryption(wantedKey(encryption));
  const { bucket, key } = authorisation;
  const stored = await storeBody(payload, { bucketId: bucket.id, key }, blobs, settings.limits);
  try {
    const { size, md5, checksum, content } = stored;
    const rewritten = { ...fresh, partCount: undefined, size, md5, checksum, content, encryption: record };
    return await objects.put(authorisation, rewritten, { guard, extras: overItself(source) });
  } catch (error) {
    await stored.giveUp(error);
    throw error;
  }
}

interface CopyInput {
  readonly checksumAlgorithm: ChecksumAlgorithm | undefined;
  readonly encryption: WantedEncryption;
  readonly sourceCustomer: CustomerKey | undefined;
}

type Headers = NewVersion['objectAttributes']['headers'];

/** A website redirect is not copied; the copy has the one in its request. */
function withoutRedirect({ websiteRedirectLocation: _, ...headers }: Headers): Headers {
  return headers;
}

function redirectOf({ websiteRedirectLocation }: Headers): Headers {
  return websiteRedirectLocation === undefined ? {} : { websiteRedirectLocation };
}

/** Refuses a copy onto itself that changes nothing. A new encryption or storage class counts as a change. @throws S3Error InvalidRequest */
function refuseCopyOntoItself(
  input: {
    readonly bucket: string;
    readonly key: string;
    readonly copy: ReturnType<typeof parseCopyRequest>;
    readonly upload: ReturnType<typeof readUploadHeaders>;
    readonly metadataDirective: 'COPY' | 'REPLACE';
    /** As the request says, without the bucket's default. */
    readonly asked: WantedEncryption;
    readonly encryption: WantedEncryption;
  },
  version: Version,
): void {
  const { bucket, key, copy, upload, metadataDirective, asked, encryption } = input;
  const { source } = copy;
  const isItself = source.bucket === bucket && source.key === key && source.versionId === undefined;
  const changes =
    metadataDirective === 'REPLACE' ||
    upload.headers.websiteRedirectLocation !== undefined ||
    upload.storageClass !== (version.storageClass ?? 'STANDARD') ||
    asked.kind !== 'none' ||
    encryption.kind !== (version.encryption?.kind ?? 'none');
  if (!isItself || changes) return;
  throw new S3Error('InvalidRequest', {
    message:
      "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
  });
}

function tooLarge(size: number): S3Error {
  return new S3Error('InvalidRequest', {
    message: `The specified copy source is larger than the maximum allowable size for a copy source: ${size}`,
  });
}
