import { beforeEach, describe, expect, it } from 'vitest';
import { maxReads } from '../../../shared/storage/version-changes/version-chain.ts';
import { person, PipelineInProcess, type Answered } from '../../support/storage/pipeline-in-process.ts';
import type { Unsigned } from '../../support/clients/signer.ts';

/** A key whose current version refers to a noncurrent one that is lost: no number of further reads makes the chain consistent. */

const owner = person('owner');
let service: PipelineInProcess;

const send = (request: Unsigned): Promise<Answered> => service.send(request, owner);

beforeEach(async () => {
  service = new PipelineInProcess([owner]);
  const enabled = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
  for (const request of [
    { method: 'PUT', path: '/bucket' },
    { method: 'PUT', path: '/bucket/key', body: 'null version' },
    { method: 'PUT', path: '/bucket', query: 'versioning', body: enabled },
    { method: 'PUT', path: '/bucket/key', body: 'current version' },
  ]) {
    expect((await send(request)).status).toBe(200);
  }
  const lost = [];
  for await (const { key } of service.table.scan({ prefixes: ['old/'] })) lost.push(key);
  expect(lost).toHaveLength(1);
  await service.table.write(lost.map((key) => ({ key, delete: true })));
});

describe('a request for a key whose version chain is damaged', () => {
  it.each([
    ['GetObject of the null version', { path: '/bucket/key', query: 'versionId=null' }],
    ['DeleteObject of the null version', { method: 'DELETE', path: '/bucket/key', query: 'versionId=null' }],
    ['ListObjectVersions', { path: '/bucket', query: 'versions' }],
  ] as const)('ends: %s', async (_, request) => {
    const before = service.table.calls.get;
    const answer = await send(request);
    expect([answer.status, answer.code]).toEqual([500, 'InternalError']);
    // A look takes three reads at most.
    expect(service.table.calls.get - before).toBeLessThan(4 * maxReads);
    expect(String((service.problems as unknown[][])[0]?.[1])).toMatch(
      /version chain of key "key" in bucket \S+ is damaged/,
    );
  });

  it('leaves what is there to be read', async () => {
    expect((await send({ path: '/bucket/key' })).text).toBe('current version');
    expect((await send({ path: '/bucket', query: 'list-type=2' })).status).toBe(200);
    expect(service.problems).toEqual([]);
  });
});
