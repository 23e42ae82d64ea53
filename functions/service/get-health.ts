import { defineOperation } from '../../shared/protocol/operation.ts';

/**
 * Stillage's own `GET /_stillage/health`: 200 only if table and blobs respond. Reports a deployment that keeps nothing
 * as `ephemeral`.
 */
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
