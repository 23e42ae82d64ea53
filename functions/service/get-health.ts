import { defineOperation } from '../../shared/protocol/operation.ts';

/**
 * Stillage's own `GET /_stillage/health`, readiness: 200 while table and blobs can be read. `"writable": false` says that a disk is full
 * or read-only: GET goes on, and DELETE as long as the table has room, so that a load balancer should keep sending requests here.
 * `"ephemeral": true` says that nothing is kept.
 */
export const getHealth = defineOperation({
  name: 'GetHealth',
  on: 'internal',
  body: 'none',
  needs: { table: 'read', blobs: 'read' },
  parse: () => ({}),
  authorise: () => [],
  act: async (_, { buckets, blobs, settings }) => {
    const [{ writable }] = await Promise.all([blobs.check(), buckets.check()]);
    return { status: 'ok', ...(settings.ephemeral && { ephemeral: true }), ...(!writable && { writable }) };
  },
  render: (health) => ({
    fields: [['content-type', 'application/json']],
    body: Buffer.from(`${JSON.stringify(health)}\n`),
  }),
});
