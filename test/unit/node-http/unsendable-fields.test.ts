import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { nodeHttpListener } from '../../../shared/node-http/node-http.ts';
import { TrustedProxies } from '../../../shared/node-http/connections/trusted-proxies.ts';
import { defaultLimits } from '../../../shared/protocol/limits.ts';
import { person, PipelineInProcess } from '../../support/storage/pipeline-in-process.ts';
import { RawConnection, requestBytes, type RawResponse } from '../../support/clients/raw-client.ts';
import { signed } from '../../support/clients/signer.ts';

const owner = person('owner');

/** Adds to an attribute of an item to be written, like an earlier service that accepted any name and value. */
function addTo(attribute: 'um' | 'h', written: unknown, more: (old: object) => object): void {
  if (typeof written !== 'object' || written === null || written instanceof Uint8Array) return;
  const item = written as Record<string, object>;
  if (item[attribute]) item[attribute] = { ...item[attribute], ...more(item[attribute]) };
  else for (const value of Object.values(item)) addTo(attribute, value, more);
}

/** A service on a port of its own, and a connection to it. */
async function served(service: PipelineInProcess): Promise<(method: string, path: string) => Promise<RawResponse>> {
  const listener = nodeHttpListener(service, {
    proxies: new TrustedProxies([]),
    limits: defaultLimits,
    keepAlive: () => true,
    telemetry: { problem: () => undefined },
  });
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const connection = await RawConnection.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    connection.close();
    server.close();
  });
  return (method, path) => {
    connection.write(requestBytes(signed(service.host, { method, path }, { key: owner.key })));
    return connection.response(method);
  };
}

it('answers with the metadata that can be sent, and how many others there are', async () => {
  const service = new PipelineInProcess([owner]);
  await service.send({ method: 'PUT', path: '/bucket' }, owner);
  const unsendable = { 'a b': '1', 'a:b': '2', é: '3', 'a\r\nx-injected': '4', '': '5', c: 'a\r\nb', d: '\u0142' };
  service.table.beforeWrite = async (changes) => addTo('um', changes, () => ({ fine: 'too', ...unsendable }));
  await service.send({ method: 'PUT', path: '/bucket/key', headers: { 'x-amz-meta-a': '1' }, body: 'content' }, owner);
  service.table.beforeWrite = async () => undefined;

  const send = await served(service);
  for (const method of ['GET', 'HEAD', 'GET']) {
    const answer = await send(method, '/bucket/key');
    expect([answer.status, answer.text]).toEqual([200, method === 'HEAD' ? '' : 'content']);
    const names = answer.headers.map(([name]) => name).filter((name) => /meta|injected/.test(name));
    expect(names).toEqual(['x-amz-meta-a', 'x-amz-meta-fine', 'x-amz-missing-meta']);
    expect(answer.header('x-amz-missing-meta')).toBe(String(Object.keys(unsendable).length));
  }
  expect(service.problems).toEqual([]);
});

it('leaves out whatever else cannot be sent, and tells the operator', async () => {
  const service = new PipelineInProcess([owner]);
  await service.send({ method: 'PUT', path: '/bucket' }, owner);
  const headers = { 'x-amz-meta-a': '1', 'cache-control': 'no-cache' };
  service.table.beforeWrite = async (changes) =>
    addTo('h', changes, (old) => Object.fromEntries(Object.keys(old).map((code) => [code, 'no\r\ncache'])));
  await service.send({ method: 'PUT', path: '/bucket/key', headers, body: 'content' }, owner);

  const send = await served(service);
  const answer = await send('GET', '/bucket/key');
  expect([answer.status, answer.text, answer.header('cache-control')]).toEqual([200, 'content', undefined]);
  expect(service.problems).toMatchObject([
    ['a field of the answer cannot be sent', expect.any(Error), { operation: 'GetObject' }],
  ]);
});
