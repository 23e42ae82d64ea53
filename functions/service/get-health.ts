import { defineOperation } from '../../shared/protocol/operation.ts';

/** Stillage's own `GET /_stillage/health`: 200 only when table and blobs answer. */
export const getHealth = defineOperation({
  name: 'GetHealth',
  on: 'internal',
  body: 'none',
  needs: { table: 'read', blobs: 'read' },
  parse: () => ({}),
  authorise: () => [],
  act: async (_, { buckets, blobs }) => {
    await Promise.all([buckets.check(), blobs.check()]);
  },
  render: () => ({ fields: [['content-type', 'application/json']], body: Buffer.from('{"status":"ok"}\n') }),
});
