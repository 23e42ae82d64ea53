import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  isPublicAddress,
  Webhooks,
  webhookSignature,
  type WebhookOptions,
} from '../../../../shared/adapters/system/webhooks.ts';
import type { Delivery } from '../../../../shared/ports/notifier.ts';
import { issueCertificate, type Certificates } from '../../../support/clients/certificates.ts';
import { WebhookReceiver } from '../../../support/clients/webhook-receiver.ts';
import { eventually } from '../../../support/runs/eventually.ts';

const name = 'hooks.example.test';
const refused = { outcome: 'refused', reason: 'the address of the host is not public' };
let folder: string;
let certificates: Certificates;
let receiver: WebhookReceiver;
let resolved: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-hooks-'));
  certificates = await issueCertificate(folder, [name, '127.0.0.1']);
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  receiver = await WebhookReceiver.start(certificates);
  resolved = [];
});
afterEach(() => receiver.stop());

const loopback = [{ address: '127.0.0.1', family: 4 }];

/** Creates webhooks whose host names all resolve to the loopback address by default. */
async function webhooks(options: Partial<WebhookOptions> = {}): Promise<Webhooks> {
  return new Webhooks({
    allowed: new Set([`${name}:${receiver.port}`]),
    pause: 1,
    authority: await readFile(certificates.authority, 'utf8'),
    resolve: async (host) => {
      resolved.push(host);
      return loopback;
    },
    ...options,
  });
}

const target = (host = name, path = '/hook?a=b'): string => `https://${host}:${receiver.port}${path}`;
const notification = (to: string): Parameters<Webhooks['send']>[0] => ({
  target: to,
  body: '{"AlarmName":"größer"}',
  alarm: { name: 'größer', state: 'ALARM', before: 'OK', reason: 'too much' },
  id: 'time.alarm',
  secret: 'secret',
});
const send = async (to = target(), options?: Partial<WebhookOptions>): Promise<Delivery> =>
  (await webhooks(options)).send(notification(to));

describe('a webhook', () => {
  it('gets a signed POST', async () => {
    const before = Math.floor(Date.now() / 1000);
    expect(await send()).toEqual({ outcome: 'delivered' });
    expect(receiver.calls).toHaveLength(1);
    const { method, path, headers, body } = receiver.calls[0]!;
    expect([method, path, body]).toEqual(['POST', '/hook?a=b', '{"AlarmName":"größer"}']);
    expect(headers['content-type']).toBe('application/json');
    expect(headers.host).toBe(`${name}:${receiver.port}`);
    expect(headers['x-stillage-delivery']).toBe('time.alarm');
    const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['x-stillage-signature'] as string)!;
    expect(signature).toBe(createHmac('sha256', 'secret').update(`${time}.${body}`).digest('hex'));
    expect(Number(time)).toBeGreaterThanOrEqual(before);
  });

  it('is signed as is written', () => {
    // printf '1700000000.{}' | openssl dgst -sha256 -hmac key
    const expected = createHmac('sha256', 'key').update('1700000000.{}').digest('hex');
    expect(webhookSignature('key', 1_700_000_000, '{}')).toBe(`t=1700000000,v1=${expected}`);
  });

  it('is called where its name led to when it was looked at, and the name is asked for once', async () => {
    let asked = 0;
    const resolve = async (): Promise<typeof loopback> => {
      asked += 1;
      return asked === 1 ? loopback : [{ address: '192.0.2.1', family: 4 }];
    };
    expect(await send(target(), { resolve })).toEqual({ outcome: 'delivered' });
    expect(asked).toBe(1);
  });

  it.each([500, 503, 429, 408])('that answers %s is called again, three times', async (status) => {
    receiver.answer = (response) => response.writeHead(status).end();
    expect(await send()).toEqual({ outcome: 'failed', reason: `the host answered ${status}` });
    expect(receiver.calls).toHaveLength(4);
  });

  it('that recovers is called no more', async () => {
    receiver.answer = (response) => response.writeHead(receiver.calls.length < 3 ? 502 : 200).end('ok');
    expect(await send()).toEqual({ outcome: 'delivered' });
    expect(receiver.calls).toHaveLength(3);
  });

  it.each([400, 401, 404, 410])('that answers %s is called once', async (status) => {
    receiver.answer = (response) => response.writeHead(status).end();
    expect(await send()).toEqual({ outcome: 'failed', reason: `the host answered ${status}` });
    expect(receiver.calls).toHaveLength(1);
  });

  it.each([301, 302, 303, 307, 308])('cannot lead elsewhere by %s', async (status) => {
    receiver.answer = (response) => response.writeHead(status, { location: target(name, '/other') }).end();
    expect(await send()).toEqual({ outcome: 'failed', reason: `the host answered ${status}` });
    expect(receiver.calls.map(({ path }) => path)).toEqual(['/hook?a=b']);
  });

  it('that does not answer is given up', async () => {
    receiver.answer = () => undefined;
    expect(await send(target(), { timeout: 50 })).toEqual({
      outcome: 'failed',
      reason: 'the host did not answer in time',
    });
  });

  it('is broken off when the service stops, also between two attempts', async () => {
    receiver.answer = () => undefined;
    const stopping = new AbortController();
    const first = send(target(), { stopping: stopping.signal });
    await eventually(() => expect(receiver.calls).toHaveLength(1));
    stopping.abort();
    await expect(first).rejects.toThrow('aborted');
    receiver.answer = (response) => response.writeHead(500).end();
    const again = new AbortController();
    const second = send(target(), { stopping: again.signal, pause: 1_000_000 });
    await eventually(() => expect(receiver.calls).toHaveLength(2));
    again.abort();
    await expect(second).rejects.toThrow('aborted');
    expect(receiver.calls).toHaveLength(2);
  });

  it('may answer without end, and nobody listens', async () => {
    receiver.answer = (response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    expect(await send()).toEqual({ outcome: 'delivered' });
  });

  it('with more headers than anybody needs is no webhook', async () => {
    receiver.answer = (response) => response.writeHead(200, { 'x-long': 'x'.repeat(10_000) }).end();
    expect(await send()).toEqual({ outcome: 'failed', reason: 'the host could not be reached' });
  });

  it('must have a certificate of its name that an authority vouches for', async () => {
    const unreached = { outcome: 'failed', reason: 'the host could not be reached' };
    const other = 'other.example.test';
    expect(await send(target(other), { allowed: new Set([`${other}:${receiver.port}`]) })).toEqual(unreached);
    const options = { allowed: new Set([`${name}:${receiver.port}`]), pause: 1, resolve: async () => loopback };
    expect(await new Webhooks(options).send(notification(target()))).toEqual(unreached);
    expect(receiver.calls).toEqual([]);
  });

  it('is not looked for by way of a proxy', async () => {
    const environment = { ...process.env };
    try {
      Object.assign(process.env, { HTTPS_PROXY: 'http://127.0.0.1:1', NODE_USE_ENV_PROXY: '1' });
      expect(await send()).toEqual({ outcome: 'delivered' });
    } finally {
      process.env = environment;
    }
  });
});

describe('a webhook that was not allowed by name', () => {
  const nobody = { allowed: new Set<string>() };

  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '0.0.0.0',
    '::1',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    'fd00:ec2::254',
    'fe80::1',
  ])('is not called at %s', async (address) => {
    const family = address.includes(':') ? 6 : 4;
    expect(await send(target(), { ...nobody, resolve: async () => [{ address, family }] })).toEqual(refused);
    const literal = `https://${family === 6 ? `[${address}]` : address}:${receiver.port}/`;
    expect(await new Webhooks(nobody).send(notification(literal))).toEqual(refused);
    expect(receiver.calls).toEqual([]);
  });

  it.each(['127.1', '2130706433', '0x7f.1', '0177.0.0.1', 'localhost', 'LOCALHOST', '127.0.0.1.'])(
    'is not called by the name of %s',
    async (host) => {
      expect(await new Webhooks(nobody).send(notification(target(host)))).toEqual(refused);
      expect(receiver.calls).toEqual([]);
    },
  );

  it('is refused if only one of its addresses is not public', async () => {
    const resolve = async (): Promise<typeof loopback> => [{ address: '93.184.215.14', family: 4 }, ...loopback];
    expect(await send(target(), { ...nobody, resolve })).toEqual(refused);
  });

  it('is not allowed by another port, another name, or its address', async () => {
    for (const allowed of [`${name}:443`, `other.test:${receiver.port}`, `127.0.0.1:${receiver.port}`, name]) {
      expect(await send(target(), { allowed: new Set([allowed]) })).toEqual(refused);
    }
    expect(receiver.calls).toEqual([]);
  });

  it('is not called by any other scheme, and by http only if it was allowed', async () => {
    for (const scheme of ['http', 'file', 'ftp']) {
      const { outcome } = await send(target().replace('https', scheme), nobody);
      expect(outcome).toBe('refused');
    }
    for (const scheme of ['file', 'ftp'])
      expect((await send(target().replace('https', scheme))).outcome).toBe('refused');
    expect(resolved).toEqual([]);
    const server = createServer((_, response) => response.writeHead(204).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const plain = `http://${name}:${port}/hook`;
    expect(await send(plain, { allowed: new Set([`${name}:${port}`]) })).toEqual({ outcome: 'delivered' });
    server.closeAllConnections();
    server.close();
  });

  it('is not the service itself', async () => {
    const resolve = async (): Promise<typeof loopback> => [{ address: '93.184.215.14', family: 4 }];
    const own = { ...nobody, resolve, isOwn: () => true };
    const reason = 'the host is this service itself';
    expect(await send(target(), own)).toEqual({ outcome: 'refused', reason });
    expect(await send(target(), { isOwn: () => true })).toEqual({ outcome: 'delivered' });
  });

  it('is asked to wait no longer than it says', async () => {
    const caller = await webhooks();
    const call = { url: target(), body: '{}', id: 'id', secret: undefined };
    receiver.answer = (response) => response.writeHead(503, { 'retry-after': '7' }).end();
    expect(await caller.call(call)).toEqual({ outcome: 'answered', status: 503, retryAfter: 7000 });
    receiver.answer = (response) => response.writeHead(429, { 'retry-after': 'soon' }).end();
    expect(await caller.call(call)).toEqual({ outcome: 'answered', status: 429, retryAfter: undefined });
    const date = new Date(Date.now() + 60_000).toUTCString();
    receiver.answer = (response) => response.writeHead(429, { 'retry-after': date }).end();
    const outcome = await caller.call(call);
    expect(outcome).toMatchObject({ outcome: 'answered', status: 429 });
    expect(outcome.outcome === 'answered' && outcome.retryAfter).toBeGreaterThan(0);
  });

  it('is given up if nobody knows its name', async () => {
    const resolve = (): Promise<never> => Promise.reject(new Error('ENOTFOUND'));
    const failed = { outcome: 'failed', reason: 'the host name could not be resolved' };
    expect(await send(target(), { resolve })).toEqual(failed);
    expect(await send(target(), { resolve: async () => [] })).toEqual(failed);
    expect(await send(target(), { resolve: () => new Promise(() => undefined), timeout: 20 })).toEqual(failed);
  });
});

describe('an address that a webhook may have', () => {
  it.each([
    '93.184.215.14',
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '2606:4700:4700::1111',
    '2a00:1450::1',
  ])('is a public one: %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ['this machine', ['127.0.0.1', '127.255.255.254', '::1', '0.0.0.0', '0.1.2.3', '::']],
    ['a private network', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1', 'fc00::1', 'fec0::1']],
    ['a link', ['169.254.1.1', 'fe80::1', 'fe80::1%eth0']],
    ['a metadata service', ['169.254.169.254', '169.254.170.2', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16']],
    ['the inside of a provider', ['100.64.0.1', '100.127.255.255']],
    ['many at once', ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1', '255.255.255.255']],
    ['IPv4 in IPv6', ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '::127.0.0.1', '::ffff:0:127.0.0.1']],
    [
      'behind a translator',
      ['64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::a00:1', '2002:7f00:1::', '2001:0:1::1'],
    ],
    [
      'reserved',
      ['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '240.0.0.1', '192.0.0.8', '2001:db8::1', '100::1'],
    ],
    ['no address', ['', 'localhost', '1.2.3', '0x7f000001', '8.8.8.8:80', '256.1.1.1', '4000::1', '1::1']],
  ] as const)('is not %s', (_, addresses) => {
    expect(addresses.filter((address) => isPublicAddress(address))).toEqual([]);
  });
});

describe('reading a document', () => {
  const read = async (url: string, options: Partial<WebhookOptions> = {}) => (await webhooks(options)).read(url);

  it('asks the addresses that were checked, and nothing of a redirect', async () => {
    receiver.answer = (response, { path }) =>
      path === '/moved' ? response.writeHead(302, { location: target(name, '/keys') }).end() : response.end('{}');
    expect(await read(target(name, '/keys'))).toBe('{}');
    expect(await read(target(name, '/moved'))).toBeUndefined();
    expect(receiver.calls.map(({ method, path }) => [method, path])).toEqual([
      ['GET', '/keys'],
      ['GET', '/moved'],
    ]);
    expect(resolved).toEqual([name, name]);
  });

  it('reads nothing from an address that is not public, nor what is long', async () => {
    expect(await read(target(), { allowed: new Set() })).toBeUndefined();
    expect(await read('ftp://example.com/x')).toBeUndefined();
    expect(await read(target(), { isOwn: () => true, allowed: new Set() })).toBeUndefined();
    expect(receiver.calls).toEqual([]);
    receiver.answer = (response) => response.end('x'.repeat(129 * 1024));
    expect(await read(target())).toBeUndefined();
    receiver.answer = (response) => response.writeHead(500).end('{}');
    expect(await read(target())).toBeUndefined();
  });
});
