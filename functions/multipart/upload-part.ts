import {
  checkCustomerKey,
  checkNotBlocked,
  encryptionFields,
  readCustomerKey,
} from '../../shared/protocol/objects/encryption.ts';
import { partItemBytes } from '../../shared/storage/uploads/parts.ts';
import { checksumFields } from '../../shared/protocol/objects/object-headers.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import {
  addPart,
  checkInitiator,
  checkPartChecksum,
  parsePartNumber,
  requireUploadId,
} from '../../shared/protocol/objects/part.ts';
import { creates } from '../../shared/protocol/objects/questions.ts';
import { storeBody } from '../../shared/protocol/bodies/store-body.ts';
import { checkLengthIsGiven } from '../../shared/protocol/bodies/announced-body.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPart.html */
export const uploadPart = defineOperation({
  name: 'UploadPart',
  on: 'object',
  body: 'stream',
  needs: { table: 'write', blobs: 'write' },

  parse: (request) => {
    const { bucket, key, fields, query, settings } = request;
    checkLengthIsGiven(fields);
    return {
      bucket,
      key,
      customer: readCustomerKey(request),
      uploadId: requireUploadId(query),
      number: parsePartNumber(query, settings.limits.partsPerUpload),
    };
  },

  authorise: ({ bucket, key, uploadId }) => [{ action: 'PutObject', bucket, key, uploadId, facts: creates(false) }],

  act: async (
    { key, uploadId, number, ...input },
    { authorisation, bucket, caller, contents, payload, quotas, settings, uploads },
  ) => {
    const customer = input.customer();
    const upload = await uploads.findOpen(bucket, key, uploadId);
    checkInitiator(upload, caller);
    checkNotBlocked(bucket, upload.encryption?.kind);
    checkCustomerKey(upload.encryption, customer);
    const blobs = contents.writer(upload.encryption, customer?.key);
    const reservation = await quotas.reserve(bucket, { bytes: (payload.length ?? 0) + partItemBytes, objects: 0 });
    try {
      const stored = await storeBody(payload, { bucketId: bucket.id, key }, blobs, settings.limits);
      try {
        if (payload.length === undefined) await reservation.add({ bytes: stored.size, objects: 0 });
        checkPartChecksum(upload.checksum?.algorithm, stored.checksum);
        await uploads.findOpen(bucket, key, uploadId);
      } catch (error) {
        await stored.discard();
        throw error;
      }
      const part = await addPart(stored, { uploads, authorisation, upload, number });
      return { ...part, encryption: upload.encryption };
    } finally {
      reservation.release();
    }
  },

  render: ({ md5, checksum, encryption }, { customer }) => ({
    fields: [
      ['etag', `"${Buffer.from(md5).toString('hex')}"`],
      ...checksumFields(checksum).slice(0, 1),
      ...encryptionFields(encryption, customer()),
    ],
  }),
});
