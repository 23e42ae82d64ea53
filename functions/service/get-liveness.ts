import { defineOperation } from '../../shared/protocol/operation.ts';

/** Stillage's own `GET /_stillage/live`, liveness: 200 whenever the process responds. Reads neither table nor blobs. */
export const getLiveness = defineOperation({
  name: 'GetLiveness',
  on: 'internal',
  body: 'none',
  needs: { table: 'read' },
  ignoresCredentials: true,
  parse: () => ({}),
  authorise: () => [],
  act: async () => undefined,
  render: () => ({ fields: [['content-type', 'application/json']], body: Buffer.from('{"status":"ok"}\n') }),
});
