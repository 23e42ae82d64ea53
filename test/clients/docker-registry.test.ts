import { createHash, randomBytes } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { long, MiB } from '../support/storage/contents.ts';
import { schemes, startEndpoint, type Endpoint } from '../support/programs/endpoint.ts';
import { environment, isInstalled, skip } from '../support/programs/programs.ts';
import { alice } from '../support/programs/server.ts';

const installed = isInstalled('docker-registry');

describe.each(schemes)('docker-registry over %s', (scheme) => {
  let endpoint: Endpoint;
  let registry: { url: string; process: ChildProcess };

  beforeAll(async () => {
    if (!installed) return;
    endpoint = await startEndpoint(scheme);
    registry = await startRegistry(endpoint);
  });
  afterAll(async () => {
    registry?.process.kill();
    await endpoint?.stop();
  });
  beforeEach((context) => {
    if (!installed) skip(context, 'docker-registry is not installed: apt-get install docker-registry');
  });

  const call = (path: string, init: RequestInit = {}): Promise<Response> => fetch(new URL(path, registry.url), init);

  it('has nothing at first', async () => {
    expect((await call('/v2/')).status).toBe(200);
    expect(await (await call('/v2/_catalog')).json()).toEqual({ repositories: [] });
  });

  it('is pushed a layer in uneven pieces, and its manifest, and gives them back', async () => {
    const pieces = [3, 7, 1].map((size) => randomBytes((long ? 10 : 1) * size * MiB + 5));
    const layer = await pushed(pieces);
    const config = await pushed([Buffer.from('{}')]);
    const mediaType = 'application/vnd.docker.distribution.manifest.v2+json';
    const manifest = JSON.stringify({
      schemaVersion: 2,
      mediaType,
      config: { mediaType: 'application/vnd.docker.container.image.v1+json', ...config },
      layers: [{ mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip', ...layer }],
    });
    const headers = { 'content-type': mediaType };
    const put = await call('/v2/some/image/manifests/latest', { method: 'PUT', body: manifest, headers });
    expect([put.status, await put.text()]).toEqual([201, '']);

    const got = await call('/v2/some/image/manifests/latest', { headers: { accept: mediaType } });
    expect(await got.text()).toBe(manifest);
    expect(await (await call('/v2/some/image/tags/list')).json()).toEqual({ name: 'some/image', tags: ['latest'] });
    expect(await (await call('/v2/_catalog')).json()).toEqual({ repositories: ['some/image'] });
    const head = await call(`/v2/some/image/blobs/${layer.digest}`, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(layer.size));
    const blob = Buffer.from(await (await call(`/v2/some/image/blobs/${layer.digest}`)).arrayBuffer());
    expect(digestOf([blob])).toBe(layer.digest);

    const digest = got.headers.get('docker-content-digest')!;
    expect((await call(`/v2/some/image/manifests/${digest}`, { method: 'DELETE' })).status).toBe(202);
    expect((await call('/v2/some/image/manifests/latest')).status).toBe(404);
  });

  it('has asked for what only it asks for', () => {
    const operations = new Set(endpoint.started!.requests().map((request) => request['operation']));
    for (const operation of ['ListMultipartUploads', 'UploadPartCopy']) {
      expect(operations).toContain(operation);
    }
  });

  it('gives up an upload', async () => {
    const begun = await call('/v2/some/image/blobs/uploads/', { method: 'POST' });
    const patched = await call(begun.headers.get('location')!, { method: 'PATCH', body: randomBytes(6 * MiB) });
    expect(patched.status).toBe(202);
    expect((await call(patched.headers.get('location')!, { method: 'DELETE' })).status).toBe(204);
  });

  /** Pushes a blob piece by piece: each goes on where the one before it ended. */
  async function pushed(pieces: readonly Buffer[]): Promise<{ digest: string; size: number }> {
    let { headers } = await call('/v2/some/image/blobs/uploads/', { method: 'POST' });
    let size = 0;
    for (const piece of pieces) {
      const range = {
        'content-range': `${size}-${size + piece.length - 1}`,
        'content-type': 'application/octet-stream',
      };
      const patched = await call(headers.get('location')!, { method: 'PATCH', body: piece, headers: range });
      expect([patched.status, await patched.text()]).toEqual([202, '']);
      headers = patched.headers;
      size += piece.length;
    }
    const digest = digestOf(pieces);
    const end = new URL(headers.get('location')!, registry.url);
    end.searchParams.set('digest', digest);
    const finished = await call(end.href, { method: 'PUT' });
    expect([finished.status, await finished.text()]).toEqual([201, '']);
    return { digest, size };
  }
});

function digestOf(pieces: readonly Buffer[]): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return `sha256:${hash.digest('hex')}`;
}

/** Starts a registry that keeps its images in a bucket. */
async function startRegistry(endpoint: Endpoint): Promise<{ url: string; process: ChildProcess }> {
  const file = join(endpoint.folder, 'registry.json');
  const s3 = {
    accesskey: alice.accessKeyId,
    secretkey: alice.secretAccessKey,
    region: 'us-east-1',
    regionendpoint: endpoint.url,
    forcepathstyle: true,
    bucket: await endpoint.newBucket(),
    secure: endpoint.scheme === 'https',
    rootdirectory: '/registry',
    // The smallest parts that it can have, so that a test sees many.
    chunksize: 5 * MiB,
    multipartcopychunksize: 5 * MiB,
    multipartcopythresholdsize: 5 * MiB,
  };
  const storage = { s3, delete: { enabled: true }, redirect: { disable: true } };
  // JSON is YAML, too.
  await writeFile(file, JSON.stringify({ version: 0.1, storage, http: { addr: '127.0.0.1:0' } }));
  const child = spawn('docker-registry', ['serve', file], {
    env: environment({ SSL_CERT_FILE: endpoint.authority.file }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  process.once('exit', () => child.kill());
  let said = '';
  const address = await Promise.race([
    new Promise<string>((resolve) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        const listening = /listening on (127\.0\.0\.1:\d+)/.exec(said);
        if (listening) resolve(listening[1]!);
      });
    }),
    once(child, 'exit').then(() => undefined),
  ]);
  if (address === undefined) throw new Error(`docker-registry ended: ${said}`);
  return { url: `http://${address}`, process: child };
}
