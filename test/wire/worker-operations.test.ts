import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changes, key, putKey, type Scene } from '../support/storage/changes.ts';
import { isExternal, serviceUnderTest } from '../support/programs/service-under-test.ts';
import { exchange, RawConnection, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { anonymous, pathOf, signed, type Key, type Unsigned } from '../support/clients/signer.ts';

/** Each operation, on a connection that the worker of two processes serves: it commits through the other one. */

const health = { path: '/_stillage/health' };
/** Connections of the primary that stay open. Each counts as two of the worker's, so that the worker gets the next ones. */
const held = 4;

const onBucket = [
  '',
  'list-type=2',
  'versions',
  'uploads',
  'location',
  'versioning',
  'acl',
  'cors',
  'tagging',
  'policy',
];
const onBucketToo = ['policyStatus', 'lifecycle', 'website', 'encryption', 'ownershipControls', 'publicAccessBlock'];
const onObject = ['', 'acl', 'tagging', 'attributes'];

describe.runIf(!isExternal)('the worker of a service', () => {
  const service = serviceUnderTest({ args: ['--workers', '2'] });
  let primary: string;
  let connections: RawConnection[];
  beforeEach(async () => {
    connections = [];
    const names: string[] = [];
    while (names.filter((name) => name === names[0]).length < held) {
      const connection = await RawConnection.open(service.url);
      connections.push(connection);
      connection.write(requestBytes(anonymous(service.host, health)));
      names.push((await connection.response()).header('x-amz-id-2')!);
    }
    // The first connection of a service is the primary's.
    primary = names[0]!;
    connections.forEach((connection, at) => {
      if (names[at] !== primary) connection.close();
    });
  });
  afterEach(() => connections.forEach((connection) => connection.close()));

  async function byWorker(request: Unsigned, key: Key | null = service.alice): Promise<RawResponse> {
    const { url, host } = service;
    const response = await exchange(url, key === null ? anonymous(host, request) : signed(host, request, { key }));
    expect(response.header('x-amz-id-2')).not.toBe(primary);
    return response;
  }

  async function byPrimary(request: Unsigned): Promise<RawResponse> {
    const connection = connections[0]!;
    connection.write(requestBytes(signed(service.host, request, { key: service.alice })));
    const response = await connection.response(request.method);
    expect(response.header('x-amz-id-2')).toBe(primary);
    return response;
  }

  it.each(changes.map((change) => [change.name, change] as const))('carries out %s', async (_, change) => {
    const source = pathOf(await service.bucket(), 'source');
    const headers = { 'x-amz-acl': 'public-read' };
    expect((await byWorker({ method: 'PUT', path: source, headers, body: 'of the source' })).status).toBe(200);
    const bucket = await service.bucket();
    const scene: Scene = { service, bucket, owner: service.alice, caller: service.alice, source };
    if (change.wantsEmpty !== true) await putKey(scene, service.alice);
    const ids = (await change.prepare?.(scene)) ?? {};
    const response = await byWorker(change.request(scene, ids), change.holding?.key);
    expect(response.status, response.text).toBeLessThan(300);
    expect(response.text).not.toContain('<Error>');
  });

  it('answers what the primary answers', async () => {
    const bucket = await service.bucket();
    await putKey({ service, bucket, owner: service.alice, caller: service.alice, source: '' }, service.alice);
    const bare = ({ status, text }: RawResponse): string => {
      expect(status, text).toBeLessThan(500);
      return `${status} ${text.replace(/<(RequestId|HostId)>[^<]*/g, '')}`;
    };
    const headers = { 'x-amz-object-attributes': 'ETag,ObjectSize' };
    const requests: readonly Unsigned[] = [
      { path: '/' },
      ...[...onBucket, ...onBucketToo].map((query) => ({ path: pathOf(bucket), query })),
      ...onObject.map((query) => ({ path: pathOf(bucket, key), query, ...(query === 'attributes' && { headers }) })),
    ];
    for (const request of requests) expect(bare(await byWorker(request))).toBe(bare(await byPrimary(request)));
  });
});
