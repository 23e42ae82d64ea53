import { completedParts, completeMultipartUploadResult } from '../../shared/documents/multipart.ts';
import type { EncryptionRecord } from '../../shared/encryption/customer-key.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { evaluated, type WriteConditions } from '../../shared/http/fields/preconditions.ts';
import { combinedChecksum, combinedMd5, pickParts, type NamedPart } from '../../shared/storage/uploads/assemble.ts';
import { OutcomeUnknown } from '../../shared/storage/version-changes/outcomes.ts';
import {
  noSuchUpload,
  versionOf,
  type CompletedUpload,
  type Part,
  type Upload,
} from '../../shared/storage/uploads/upload.ts';
import { PartsReleased } from '../../shared/storage/uploads/parts.ts';
import { CompletedMeanwhile } from '../../shared/storage/uploads/uploads.ts';
import { bestEffort } from '../../shared/storage/table/settled.ts';
import { versionIdOf } from '../../shared/storage/versions/versions.ts';
import type { Reservation } from '../../shared/storage/quotas/quotas.ts';
import { EventLoopBudget } from '../../shared/ports/event-loop.ts';
import { checkNotBlocked, encryptionFields } from '../../shared/protocol/objects/encryption.ts';
import { readExpirations } from '../../shared/protocol/objects/expiration-header.ts';
import {
  checkExpectedChecksum,
  checkExpectedType,
  checkPartsAreSummed,
  parseExpectedChecksum,
} from '../../shared/protocol/objects/object-checksum.ts';
import { creates } from '../../shared/protocol/objects/questions.ts';
import { conditionFacts } from '../../shared/protocol/authorisation/policy-facts.ts';
import { objectUrl } from '../../shared/protocol/objects/object-url.ts';
import { ownerIn } from '../../shared/protocol/authorisation/ownership.ts';
import {
  defineOperation,
  type Context,
  type DocumentBody,
  type SubjectContext,
} from '../../shared/protocol/operation.ts';
import { checkInitiator, requireUploadId } from '../../shared/protocol/objects/part.ts';
import { writeComparison, writeGuard } from '../../shared/protocol/objects/write-guard.ts';
import { parseXml, readList } from '../../shared/xml/reader.ts';

/** The maximum number of parts, and the cost of reading one, in steps. */
const reading = { most: 10_000, steps: 10 };

const completion: DocumentBody<readonly NamedPart[]> = {
  maximum: 'completeDocumentBytes',
  chunked: true,
  read: async (bytes, _, budget) => readList(await parseXml(bytes, budget), completedParts, reading, budget),
};

/** The number of attempts when parts are released in the meantime, before the client is told to slow down. */
const maxAttempts = 5;

/** The response. A repeated request gets that of the first, except for the expiration, which is not stored. */
interface Completion extends CompletedUpload {
  readonly expiration?: readonly (readonly [name: string, value: string])[];
  readonly encryption: EncryptionRecord | undefined;
}

/**
 * Completes an upload without moving bytes:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html
 */
export const completeMultipartUpload = defineOperation({
  name: 'CompleteMultipartUpload',
  on: 'object',
  body: completion,
  needs: { table: 'write' },
  conditions: evaluated.ofWrite,
  checksumsDescribe: 'object',

  parse: ({ bucket, key, fields, query }, conditions) => ({
    bucket,
    key,
    uploadId: requireUploadId(query),
    conditions,
    expectedSize: fields.get('x-amz-mp-object-size'),
    expectedChecksum: parseExpectedChecksum(fields),
    expectedType: fields.get('x-amz-checksum-type'),
  }),

  authorise: ({ bucket, key, uploadId, conditions }, { fields }) => [
    { action: 'PutObject', bucket, key, uploadId, facts: { ...conditionFacts(fields), ...creates(true) } },
    ...writeComparison({ bucket, key }, conditions),
  ],

  findSubject: async (input, context) => {
    await findUpload(input, context);
  },

  act: async (input, context): Promise<Completion> => {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      try {
        return await complete(input, context);
      } catch (error) {
        if (!(error instanceof PartsReleased)) throw error;
      }
    }
    throw new S3Error('SlowDown', { cause: new Error('parts were replaced at every attempt') });
  },

  render: ({ md5, partCount, versionId, checksum, expiration = [], encryption }, { bucket, key }, request) => ({
    fields: [
      ['x-amz-version-id', versionId],
      ...expiration,
      // The caller need not have the customer's key, so the response does not describe one.
      ...(encryption?.kind === 'managed' ? encryptionFields(encryption, undefined) : []),
    ],
    xml: completeMultipartUploadResult.write(
      {
        location: objectUrl(request, key),
        bucket,
        key,
        etag: `${Buffer.from(md5).toString('hex')}-${partCount}`,
        checksum: checksum && { ...checksum, parts: partCount },
      },
      request.settings.xmlNamespace,
    ),
  }),
});

interface Input {
  readonly key: string;
  readonly uploadId: string;
  readonly conditions: WriteConditions;
  readonly expectedSize: string | undefined;
  readonly expectedChecksum: ReturnType<typeof parseExpectedChecksum>;
  readonly expectedType: string | undefined;
}

/** Returns the upload if it is open or completed. @throws S3Error NoSuchUpload */
async function findUpload(
  { key, uploadId }: Pick<Input, 'key' | 'uploadId'>,
  { uploads, bucket, caller }: SubjectContext,
): Promise<Upload> {
  const upload = await uploads.find(bucket, key, uploadId);
  checkInitiator(upload, caller);
  if (upload.state === 'aborted') throw noSuchUpload(uploadId);
  return upload;
}

/** @throws PartsReleased if the completion must be tried again from the start */
async function complete(
  { key, uploadId, conditions, expectedSize, expectedChecksum, expectedType }: Input,
  context: Context<'object', typeof completion>,
): Promise<Completion> {
  const { authorisation, bucket, document, objects, uploads, contents, quotas, settings } = context;
  const budget = new EventLoopBudget();
  // The order matters: a part released after the upload was read is noticed at the commit.
  const upload = await findUpload({ key, uploadId }, context);
  const { encryption } = upload;
  if (upload.state === 'completed' && upload.result) return { ...upload.result, encryption };
  checkNotBlocked(bucket, encryption?.kind);
  checkPartsAreSummed(document, upload.checksum);

  const expirations = await readExpirations(context, bucket);
  let parts: readonly Part[];
  try {
    parts = await pickParts(document, await uploads.parts(uploadId), settings.limits.minimumPartBytes, budget);
  } catch (error) {
    // Parts are removed once an upload has ended.
    if ((await uploads.find(bucket, key, uploadId)).state !== 'open') throw new PartsReleased();
    throw error;
  }
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  checkSize(size, expectedSize, settings.limits.objectBytes);
  const assembled = {
    md5: combinedMd5(parts),
    partCount: parts.length,
    checksum: await combinedChecksum(parts, upload.checksum, budget),
  };
  checkExpectedType(expectedType, assembled.checksum);
  checkExpectedChecksum(expectedChecksum, assembled.checksum, parts.length);

  const manifest = await contents.manifests.create(
    parts.map(({ number, blob = '', size, checksum }) => ({ number, blob, size, checksum: checksum?.value })),
  );
  let reservation: Reservation | undefined;
  try {
    const result = (versionId: string): CompletedUpload => ({ ...assembled, versionId });
    // The bytes are already counted as those of the parts.
    reservation = await quotas.reserve(bucket, { bytes: 0, objects: 1 });
    const completed = { ...versionOf(upload, size, result(''), manifest), owner: ownerIn(bucket, upload.owner) };
    const version = await objects.put(authorisation, completed, {
      guard: writeGuard(conditions),
      extras: (placed) => uploads.completion(bucket, upload, manifest, result(versionIdOf(placed))),
    });
    const expiration = expirations(key, version, upload.objectAttributes.tags);
    return { ...result(versionIdOf(version)), expiration, encryption };
  } catch (error) {
    // A scrub finds what cannot be removed now.
    if (!(error instanceof OutcomeUnknown)) await bestEffort(contents.manifests.remove(manifest));
    if (error instanceof CompletedMeanwhile) return { ...error.result, encryption };
    throw error;
  } finally {
    reservation?.release();
  }
}

/** @throws S3Error InvalidRequest (not the size the client expects), EntityTooLarge */
function checkSize(size: number, expected: string | undefined, maximum: number): void {
  if (expected !== undefined && expected !== String(size)) {
    throw new S3Error('InvalidRequest', {
      message: `The provided 'x-amz-mp-object-size' header value ${expected} does not match what was computed: ${size}`,
    });
  }
  if (size > maximum) {
    throw new S3Error('EntityTooLarge', {
      details: { ProposedSize: String(size), MaxSizeAllowed: String(maximum) },
    });
  }
}
