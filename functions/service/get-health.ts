import { defineOperation } from '../../shared/protocol/operation.ts';

/**
 * Stillage's own `GET /_stillage/health`, readiness: 200 while table and blobs can be read. `"writable": false`
 * reports a full or read-only disk: GET still works, and DELETE while the table has room, so a load balancer should
 * keep sending requests. `"log": false` reports that lines of the log are dropped, `"ephemeral": true` a deployment that keeps nothing.
 */
export const getHealth = defineOperation({
  name: 'GetHealth',
  on: 'internal',
  body: 'none',
  needs: { table: 'read', blobs: 'read' },
  parse: () => ({}),
  authorise: () => [],
  act: async (_, { buckets, blobs, settings, logIsWritten }) => {
    const [{ writable }, , log] = await Promise.all([blobs.check(), buckets.check(), logIsWritten?.()]);
    return {
      status: 'ok',
      ...(settings.ephemeral && { ephemeral: true }),
      ...(!writable && { writable }),
      ...(log === false && { log }),
    };
  },
  render: (health) => ({
    fields: [['content-type', 'application/json']],
    body: Buffer.from(`${JSON.stringify(health)}\n`),
  }),
});
