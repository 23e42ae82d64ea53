import { checksumFields } from '../../shared/protocol/object-headers.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { checkPartChecksum, parsePartNumber, requireUploadId } from '../../shared/protocol/part.ts';
import { storeBody } from '../../shared/protocol/store-body.ts';
import { checkLengthIsGiven } from '../../shared/protocol/upload-headers.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPart.html */
export const uploadPart = defineOperation({
  name: 'UploadPart',
  on: 'object',
  body: 'stream',
  needs: { table: 'write', blobs: 'write' },

  parse: ({ bucket, key, fields, query, settings }) => {
    checkLengthIsGiven(fields);
    return {
      bucket,
      key,
      uploadId: requireUploadId(query),
      number: parsePartNumber(query, settings.limits.partsPerUpload),
    };
  },

  authorise: ({ bucket, key }) => [{ action: 'PutObject', bucket, key }],

  act: async ({ key, uploadId, number }, { bucket, blobs, payload, settings, uploads }) => {
    const upload = await uploads.findOpen(bucket, key, uploadId);
    const stored = await storeBody(payload, { bucketId: bucket.id, key }, blobs, settings.limits);
    try {
      checkPartChecksum(upload.checksum?.algorithm, stored.checksum);
      await uploads.findOpen(bucket, key, uploadId);
    } catch (error) {
      await stored.discard();
      throw error;
    }
    const { size, md5, checksum, blob } = stored;
    return uploads.addPart(bucket, upload, { number, size, md5, checksum, blob });
  },

  render: ({ md5, checksum }) => ({
    fields: [['etag', `"${Buffer.from(md5).toString('hex')}"`], ...checksumFields(checksum).slice(0, 1)],
  }),
});
