import { S3Error } from '../../shared/errors/s3-error.ts';
import { parsePreconditions } from '../../shared/http/preconditions.ts';
import { OutcomeUnknown, SourceGone, type NewVersion } from '../../shared/metadata/objects.ts';
import { SharedTooOften } from '../../shared/metadata/sharing.ts';
import { etagOf, versionIdOf, type Head, type Version } from '../../shared/metadata/versions.ts';
import {
  findSource,
  parseCopyRequest,
  parseDirective,
  sourceQuestion,
  sourceVersionFields,
} from '../../shared/protocol/copy-request.ts';
import { measuredBytes, noBytes } from '../../shared/protocol/measured-bytes.ts';
import { defineOperation, type Services } from '../../shared/protocol/operation.ts';
import { projectOf } from '../../shared/protocol/ownership.ts';
import { storeBody } from '../../shared/protocol/store-body.ts';
import { parseAskedChecksum } from '../../shared/protocol/upload-checksum.ts';
import { readUploadHeaders } from '../../shared/protocol/upload-headers.ts';
import { writeGuard } from '../../shared/protocol/write-guard.ts';
import { copyObjectResult } from '../../shared/xml/copy.ts';
import type { Bucket } from '../../shared/metadata/buckets.ts';
import type { ChecksumAlgorithm } from '../../shared/checksums/algorithms.ts';

const attempts = 4;

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html */
export const copyObject = defineOperation({
  name: 'CopyObject',
  on: 'object',
  body: 'none',
  needs: { table: 'write', blobs: 'write' },

  parse: ({ bucket, key, fields, settings }) => {
    const input = {
      bucket,
      key,
      copy: parseCopyRequest(fields),
      upload: readUploadHeaders(fields, settings.limits),
      metadataDirective: parseDirective(fields, 'x-amz-metadata-directive'),
      taggingDirective: parseDirective(fields, 'x-amz-tagging-directive'),
      conditions: parsePreconditions(fields),
      checksumAlgorithm: parseAskedChecksum(fields),
    };
    refuseCopyOntoItself(input);
    return input;
  },

  authorise: ({ bucket, key, copy }) => [sourceQuestion(copy.source), { action: 'PutObject', bucket, key }],

  act: async (input, context) => {
    const { copy, key, upload, conditions, checksumAlgorithm } = input;
    const { bucket, buckets, objects, sharing, caller, settings } = context;
    const from = copy.source.bucket === bucket.name ? bucket : await buckets.load(copy.source.bucket);
    const guard = writeGuard(conditions);

    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const source = await findSource(copy, from, objects);
      if (source.size > settings.limits.singleUploadBytes) throw tooLarge(source.size);
      const kept = await objects.particulars(source);
      const replaced = input.metadataDirective === 'REPLACE';
      const fresh: NewVersion = {
        ...contentOf(source),
        marker: false,
        owner: projectOf(caller, bucket),
        contentType: replaced ? upload.contentType : source.contentType,
        particulars: {
          headers: {
            ...(replaced ? upload.headers : withoutRedirect(kept.headers)),
            ...redirectOf(upload.headers),
          },
          metadata: replaced ? upload.metadata : kept.metadata,
          tags: input.taggingDirective === 'REPLACE' ? upload.tags : kept.tags,
        },
      };
      try {
        const needsBytes = checksumAlgorithm !== undefined && checksumAlgorithm !== source.checksum?.algorithm;
        if (needsBytes) throw new SharedTooOften();
        const accompany = sharing.from({ bucketId: from.id, key: copy.source.key, version: source });
        return { version: await objects.put(bucket, key, fresh, { guard, accompany }), source, from };
      } catch (error) {
        if (error instanceof SourceGone) continue;
        if (!(error instanceof SharedTooOften)) throw error;
        const version = await copyBytes(context, bucket, key, source, fresh, checksumAlgorithm, guard);
        return { version, source, from };
      }
    }
    throw new S3Error('SlowDown');
  },

  render: ({ version, source, from }, _, { settings }) => ({
    fields: [['x-amz-version-id', versionIdOf(version)], ...sourceVersionFields(from, source)],
    xml: copyObjectResult(
      {
        lastModified: version.lastModified,
        etag: etagOf(version),
        checksum: version.checksum && { ...version.checksum, parts: version.partCount },
      },
      settings.xmlNamespace,
    ),
  }),
});

/** What a copy shares with its source: the bytes and all that follows from them. */
function contentOf(source: Version): Pick<NewVersion, 'size' | 'md5' | 'partCount' | 'content' | 'checksum'> {
  const { size, md5, partCount, content, checksum } = source;
  return { size, md5, content, checksum, ...(partCount !== undefined && { partCount }) };
}

/** Where bytes must be read after all: for another checksum, or because too many share them. */
async function copyBytes(
  { contents, blobs, objects, settings }: Services,
  bucket: Bucket,
  key: string,
  source: Version,
  fresh: NewVersion,
  algorithm: ChecksumAlgorithm | undefined,
  guard: ReturnType<typeof writeGuard>,
): Promise<Head> {
  const bytes = (await contents.read(source)) ?? noBytes();
  const payload = measuredBytes(bytes, source.size, algorithm ?? 'CRC64NVME');
  const stored = await storeBody(payload, { bucketId: bucket.id, key }, blobs, settings.limits);
  const { partCount: _, ...single } = fresh;
  try {
    const { size, md5, checksum, content } = stored;
    return await objects.put(bucket, key, { ...single, size, md5, checksum, content }, { guard });
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) await stored.discard();
    throw error;
  }
}

type Headers = NewVersion['particulars']['headers'];

/** A redirect belongs to a name, not to a content: a copy has the one it asks for. */
function withoutRedirect({ websiteRedirectLocation: _, ...headers }: Headers): Headers {
  return headers;
}

function redirectOf({ websiteRedirectLocation }: Headers): Headers {
  return websiteRedirectLocation === undefined ? {} : { websiteRedirectLocation };
}

function refuseCopyOntoItself(input: {
  readonly bucket: string;
  readonly key: string;
  readonly copy: ReturnType<typeof parseCopyRequest>;
  readonly upload: ReturnType<typeof readUploadHeaders>;
  readonly metadataDirective: 'COPY' | 'REPLACE';
}): void {
  const { bucket, key, copy, upload, metadataDirective } = input;
  const { source } = copy;
  const isItself = source.bucket === bucket && source.key === key && source.versionId === undefined;
  if (!isItself || metadataDirective === 'REPLACE' || upload.headers.websiteRedirectLocation !== undefined) return;
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
