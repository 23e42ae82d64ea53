import { defineOperation } from '../../shared/protocol/operation.ts';

/** Stillage's own `GET /_stillage/health`: 200 only when table and blobs answer; says so where nothing is kept. */
export const getHealth = defineOperation({
  name: 'GetHealth',
  on: 'internal',
  body: 'none',
  needs: { table: 'read', blobs: 'read' },
  parse: () => ({}),
  authorise: () => [],
  act: async (_, { buckets, blobs, settings }) => {
    await Promise.all([buckets.check(), blobs.check()]);
    return { status: 'ok', ...(settings.ephemeral && { ephemeral: true }) };
  },
  render: (health) => ({
    fields: [['content-type', 'application/json']],
    body: Buffer.from(`${JSON.stringify(health)}\n`),
  }),
});
