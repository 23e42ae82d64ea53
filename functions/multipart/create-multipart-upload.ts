import { defineOperation } from '../../shared/protocol/operation.ts';
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

  parse: ({ bucket, key, fields, settings }) => ({
    bucket,
    key,
    upload: readUploadHeaders(fields, settings.limits),
    checksum: parseUploadChecksum(fields),
  }),

  authorise: ({ bucket, key }) => [{ action: 'PutObject', bucket, key }],

  act: async ({ key, upload, checksum }, { bucket, caller, uploads }) => {
    const { contentType, headers, metadata, tags } = upload;
    const owner = projectOf(caller, bucket);
    const particulars = { headers, metadata, tags };
    return uploads.create(bucket, key, { owner, initiator: owner, contentType, particulars, checksum });
  },

  render: (uploadId, { bucket, key, checksum }, { settings }) => ({
    fields: checksum
      ? [
          ['x-amz-checksum-algorithm', checksum.algorithm],
          ['x-amz-checksum-type', checksum.type],
        ]
      : [],
    xml: initiateMultipartUploadResult({ bucket, key, uploadId }, settings.xmlNamespace),
  }),
});
