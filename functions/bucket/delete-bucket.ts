import { defineOperation } from '../../shared/protocol/operation.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucket.html */
export const deleteBucket = defineOperation({
  name: 'DeleteBucket',
  on: 'bucket',
  body: 'none',
  needs: { table: 'write' },
  parse: ({ bucket }) => ({ bucket }),
  authorise: ({ bucket }) => [{ action: 'DeleteBucket', bucket }],
  act: (_, { authorisation, buckets }) => buckets.remove(authorisation),
  render: () => ({ status: 204 }),
});
