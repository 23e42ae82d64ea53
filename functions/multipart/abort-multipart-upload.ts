import { defineOperation } from '../../shared/protocol/operation.ts';
import { requireUploadId } from '../../shared/protocol/objects/part.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_AbortMultipartUpload.html */
export const abortMultipartUpload = defineOperation({
  name: 'AbortMultipartUpload',
  on: 'object',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ bucket, key, query }) => ({ bucket, key, uploadId: requireUploadId(query) }),
  authorise: ({ bucket, key, uploadId }) => [{ action: 'AbortMultipartUpload', bucket, key, uploadId }],
  act: ({ uploadId }, { authorisation, uploads }) => uploads.abort(authorisation, uploadId),
  render: () => ({ status: 204 }),
});
