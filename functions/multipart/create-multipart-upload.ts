import { defineOperation } from '../../shared/protocol/operation.ts';
import { customerOf, encryptionFields, parseWantedEncryption, wantedKey } from '../../shared/protocol/encryption.ts';
import { projectOf } from '../../shared/protocol/ownership.ts';
import { parseUploadChecksum } from '../../shared/protocol/upload-checksum.ts';
import { readUploadHeaders } from '../../shared/protocol/upload-headers.ts';
import { initiateMultipartUploadResult } from '../../shared/xml/multipart.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateMultipartUpload.html */
export const createMultipartUpload = defineOperation({
  name: 'CreateMultipartUpload',
  on: 'object',
  body: 'none',
  needs: { table: 'write' },

  parse: (request) => {
    const { bucket, key, fields, settings } = request;
    return {
      bucket,
      key,
      upload: readUploadHeaders(fields, settings.limits),
      checksum: parseUploadChecksum(fields),
      wanted: parseWantedEncryption(request),
    };
  },

  authorise: ({ bucket, key }) => [{ action: 'PutObject', bucket, key }],

  act: async ({ key, upload, checksum, wanted }, { bucket, caller, uploads, contents }) => {
    const { contentType, headers, metadata, tags } = upload;
    const owner = projectOf(caller, bucket);
    const particulars = { headers, metadata, tags };
    const { record } = contents.encryption(wantedKey(wanted));
    const fresh = { owner, initiator: owner, contentType, particulars, encryption: record, checksum };
    return { uploadId: await uploads.create(bucket, key, fresh), record };
  },

  render: ({ uploadId, record }, { bucket, key, checksum, wanted }, { settings }) => ({
    fields: [
      ...(checksum
        ? [['x-amz-checksum-algorithm', checksum.algorithm] as const, ['x-amz-checksum-type', checksum.type] as const]
        : []),
      ...encryptionFields(record, customerOf(wanted)),
    ],
    xml: initiateMultipartUploadResult({ bucket, key, uploadId }, settings.xmlNamespace),
  }),
});
