import { S3Error } from '../../shared/errors/s3-error.ts';
import { parsePreconditions } from '../../shared/http/preconditions.ts';
import { OutcomeUnknown } from '../../shared/metadata/objects.ts';
import { versionIdOf } from '../../shared/metadata/versions.ts';
import { customerOf, encryptionFields, parseWantedEncryption, wantedKey } from '../../shared/protocol/encryption.ts';
import { checksumFields } from '../../shared/protocol/object-headers.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { projectOf } from '../../shared/protocol/ownership.ts';
import { checkLengthIsGiven, readUploadHeaders } from '../../shared/protocol/upload-headers.ts';
import { writeGuard } from '../../shared/protocol/write-guard.ts';
import { storeBody } from '../../shared/protocol/store-body.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html */
export const putObject = defineOperation({
  name: 'PutObject',
  on: 'object',
  body: 'stream',
  needs: { table: 'write', blobs: 'write' },

  parse: (request) => {
    const { bucket, key, fields, settings } = request;
    checkLengthIsGiven(fields);
    return {
      bucket,
      key,
      encryption: parseWantedEncryption(request),
      upload: readUploadHeaders(fields, settings.limits),
      conditions: parsePreconditions(fields),
      expectedEtag: fields.get('etag')?.replaceAll('"', ''),
    };
  },

  authorise: ({ bucket, key }) => [{ action: 'PutObject', bucket, key }],

  act: async ({ key, upload, encryption, conditions, expectedEtag }, context) => {
    const { bucket, contents, objects, payload, caller } = context;
    const { record, blobs } = contents.encryption(wantedKey(encryption));
    const stored = await storeBody(payload, { bucketId: bucket.id, key }, blobs, context.settings.limits);
    try {
      if (expectedEtag !== undefined && expectedEtag !== stored.md5.toString('hex')) {
        throw new S3Error('UnprocessableEntity');
      }
      const { contentType, headers, metadata, tags } = upload;
      const version = await objects.put(
        bucket,
        key,
        {
          marker: false,
          size: stored.size,
          md5: stored.md5,
          content: stored.content,
          encryption: record,
          owner: projectOf(caller, bucket),
          contentType,
          checksum: stored.checksum,
          particulars: { headers, metadata, tags },
        },
        { guard: writeGuard(conditions) },
      );
      return { version, md5: stored.md5, checksum: stored.checksum };
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) await stored.discard();
      throw error;
    }
  },

  render: ({ version, md5, checksum }, { encryption }) => ({
    fields: [
      ['etag', `"${md5.toString('hex')}"`],
      ['x-amz-version-id', versionIdOf(version)],
      ...checksumFields(checksum),
      ...encryptionFields(version.encryption, customerOf(encryption)),
      ...(encryption.kind === 'customer' ? [['accept-ranges', 'bytes'] as const] : []),
    ],
  }),
});
