import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { md5 } from '../support/storage/contents.ts';
import { schemes, startEndpoint } from '../support/programs/endpoint.ts';
import { run } from '../support/programs/programs.ts';
import { alice } from '../support/programs/server.ts';

describe.each(schemes)('aws4fetch over %s', (scheme) => {
  it('puts, gets, heads, lists and deletes', async () => {
    const endpoint = await startEndpoint(scheme);
    const session = ['--import', 'tsx', join(import.meta.dirname, 'aws4fetch-session.ts')];
    const args = [`${endpoint.url}/${bucketName('aws4fetch')}`, alice.accessKeyId, alice.secretAccessKey];
    const env = { NODE_EXTRA_CA_CERTS: endpoint.authority.file };
    const { stdout } = await run(process.execPath, [...session, ...args], { env });
    expect(JSON.parse(stdout)).toEqual({
      create: 200,
      put: 200,
      get: 'content',
      range: 'con',
      'slash escaped': 'content',
      head: [200, '7', `"${md5('content')}"`],
      list: 'dir/a b+é&amp;.txt',
      presigned: 'content',
      wrong: 403,
      delete: 204,
      gone: 404,
    });
    await endpoint.stop();
  });
});
