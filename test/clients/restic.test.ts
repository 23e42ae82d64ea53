import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { awkwardNames, awkwardTree, filesBelow, long, MiB, randomFile } from '../support/storage/contents.ts';
import { someWays, startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { isInstalled, run, skip, type Outcome } from '../support/programs/programs.ts';
import { alice } from '../support/programs/server.ts';

const installed = isInstalled('restic', ['version']);

describe.each(someWays)('restic over $scheme, buckets in the $style', ({ scheme, style }) => {
  let endpoint: Endpoint;

  beforeAll(async () => {
    endpoint = await startEndpoint(scheme);
  });
  afterAll(() => endpoint.stop());
  beforeEach((context) => {
    if (!installed) skip(context, 'restic is not installed: apt-get install restic');
  });

  it('backs up, checks, restores, forgets and prunes', async () => {
    const [url, lookup] = style === 'path' ? [endpoint.url, 'path'] : [endpoint.hostStyleUrl, 'dns'];
    const repository = `s3:${url}/${bucketName('restic')}/repository`;
    const restic = (...args: string[]): Promise<Outcome> =>
      run(
        'restic',
        ['-r', repository, '--cacert', endpoint.authority.file, '-o', `s3.bucket-lookup=${lookup}`, ...args],
        {
          env: {
            ...endpoint.proxy.env,
            AWS_ACCESS_KEY_ID: alice.accessKeyId,
            AWS_SECRET_ACCESS_KEY: alice.secretAccessKey,
            RESTIC_PASSWORD: 'a password',
            RESTIC_CACHE_DIR: join(endpoint.folder, 'cache'),
          },
        },
      );
    const source = join(endpoint.folder, 'source');
    await awkwardTree(source);
    await randomFile(join(source, 'big'), (long ? 200 : 12) * MiB);

    expect((await restic('init')).stdout).toContain('created restic repository');
    await restic('backup', source);
    const before = await filesBelow(source);
    await appendFile(join(source, awkwardNames[0]!), 'more');
    await restic('backup', source);
    expect((await restic('check', '--read-data')).stdout).toContain('no errors were found');

    await restic('restore', 'latest', '--target', join(endpoint.folder, 'restored'));
    expect(await filesBelow(join(endpoint.folder, 'restored', source))).toEqual(await filesBelow(source));
    const snapshots = JSON.parse((await restic('snapshots', '--json')).stdout) as { id: string }[];
    await restic('restore', snapshots[0]!.id, '--target', join(endpoint.folder, 'first'));
    expect(await filesBelow(join(endpoint.folder, 'first', source))).toEqual(before);

    expect((await restic('forget', '--keep-last', '1', '--prune')).stdout).toContain('remove 1 snapshots');
    expect((await restic('check')).stdout).toContain('no errors were found');
  });
});
