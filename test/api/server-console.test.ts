import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { issueCertificate } from '../support/clients/certificates.ts';
import { exchange, RawConnection, requestBytes, type RawResponse } from '../support/clients/raw-client.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { alice, consoleOrigin, startService, type Service } from '../support/programs/server.ts';
import { signed, anonymous } from '../support/clients/signer.ts';

/** Tests the listener of the console: its files, origins and headers. The files are made up. */

const script = 'document.title = "console";\n'.repeat(40);
const page = '<!doctype html><title>console</title><script type="module" src="/assets/app-1a2b3c4d.js"></script>';
const frame = '<!doctype html><title>preview</title>';
const files: Readonly<Record<string, string | Buffer>> = {
  'index.html': page,
  'index.html.br': brotliCompressSync(page),
  'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'download.js': 'addEventListener("fetch", () => {});',
  'assets/app-1a2b3c4d.js': script,
  'assets/app-1a2b3c4d.js.br': brotliCompressSync(script),
  'assets/app-1a2b3c4d.js.gz': gzipSync(script),
  'assets/app-1a2b3c4d.css': 'body { margin: 0 }',
  'preview/frame.html': frame,
  'preview/frame.js': 'onmessage = () => {};',
};

let folder: string;
let site: string;
let service: Service;
let port: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-console-'));
  site = join(folder, 'site');
  await writeFile(join(folder, 'secret.txt'), 'nobody may read this');
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(site, name)), { recursive: true });
    await writeFile(join(site, name), content);
  }
  await symlink(join(folder, 'secret.txt'), join(site, 'assets/link.txt'));
  port = await freePort();
  service = await start();
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

/** Starts a service with a console. Later arguments override earlier ones. */
function start(...args: readonly string[]): Promise<Service> {
  return startService({ args: ['--console-port', String(port), '--console-files', site, ...args] });
}

async function freePort(): Promise<number> {
  const server = await occupied();
  const free = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  return free;
}

async function occupied(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const originOf = (host: string): string => `http://${host}:${port}`;

function ask(target: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawResponse> {
  const sent = { host: `127.0.0.1:${port}`, ...headers };
  return exchange(originOf('127.0.0.1'), { method, target, headers: Object.entries(sent) });
}

async function askSecurely(
  at: number,
  path: string,
  authority: string,
): Promise<{ readonly text: string; readonly policy: unknown }> {
  const request = get({ host: 'localhost', port: at, path, ca: await readFile(authority) });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { text: await text(response), policy: response.headers['content-security-policy'] };
}

const pagePolicy = (endpoint: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' ${endpoint}; ` +
  `frame-src 'self' ${endpoint}; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; ` +
  `require-trusted-types-for 'script'; trusted-types console`;
const previewPolicy = (console: string): string =>
  `sandbox allow-scripts; default-src 'none'; script-src ${console}/preview/; style-src ${console}/preview/; ` +
  `img-src blob:; media-src blob:; font-src blob: data:; worker-src blob:; connect-src 'none'; base-uri 'none'; ` +
  `form-action 'none'; frame-ancestors ${console}`;
const refusalPolicy = `default-src 'none'; frame-ancestors 'none'`;

function securityOf({ header }: RawResponse): Record<string, string | undefined> {
  const names = [
    'content-security-policy',
    'x-content-type-options',
    'referrer-policy',
    'cross-origin-opener-policy',
    'cross-origin-resource-policy',
    'permissions-policy',
  ];
  return Object.fromEntries(names.map((name) => [name, header(name)]));
}

const secure = (policy: string, resources = 'same-origin'): Record<string, string> => ({
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': resources,
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
});

describe('the files of the console', () => {
  it('are served with their types and for how long they hold', async () => {
    for (const [target, type, control] of [
      ['/', 'text/html; charset=utf-8', 'no-cache'],
      ['/index.html', 'text/html; charset=utf-8', 'no-cache'],
      ['/favicon.svg', 'image/svg+xml', 'no-cache'],
      ['/download.js', 'text/javascript; charset=utf-8', 'no-cache'],
      ['/assets/app-1a2b3c4d.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
      ['/assets/app-1a2b3c4d.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
      ['/preview/frame.html', 'text/html; charset=utf-8', 'no-cache'],
      ['/preview/frame.js', 'text/javascript; charset=utf-8', 'no-cache'],
    ] as const) {
      const response = await ask(target);
      expect([target, response.status, response.header('content-type'), response.header('cache-control')]).toEqual([
        target,
        200,
        type,
        control,
      ]);
      const head = await ask(target, {}, 'HEAD');
      expect([head.status, head.text, head.header('content-length')]).toEqual([200, '', String(response.body.length)]);
      expect(response.header('set-cookie')).toBeUndefined();
    }
  });

  it('are the one page, wherever in the console one is', async () => {
    for (const target of [
      '/',
      '/b/bucket/',
      '/b/bucket/a/b.html?v=1',
      '/b/x/..%2f..%2fy.js',
      '/../secret.txt',
      '/profile',
      '//x',
      '/b/%zz',
    ]) {
      const response = await ask(target);
      expect([target, response.status, response.text]).toEqual([target, 200, page]);
    }
  });

  it('are those in the folder, and nothing around it', async () => {
    for (const target of [
      '/assets/missing.js',
      '/assets/',
      '/preview/',
      '/preview/../index.html',
      '/favicon.ico',
      '/assets/../../secret.txt',
      '/assets/..%2f..%2fsecret.txt',
      '/assets/%2e%2e/%2e%2e/secret.txt',
      '/assets/..\\..\\secret.txt',
      '/assets/link.txt',
      '/..%2fsecret.txt',
      '/assets/app-1a2b3c4d.js.br',
      '/assets/app-1a2b3c4d.js%00',
      `http://127.0.0.1:${port}/`,
    ]) {
      const response = await ask(target);
      expect([target, response.status, response.text]).toEqual([target, 404, 'There is no such file.\n']);
    }
  });

  it('are sent compressed to whom they may be', async () => {
    for (const [accepted, coding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['BR;q=0.5', 'br'],
      ['gzip', 'gzip'],
      ['gzip, br;q=0', 'gzip'],
      ['br;q=0.000', undefined],
      ['identity', undefined],
      ['', undefined],
    ] as const) {
      const response = await ask('/assets/app-1a2b3c4d.js', { 'accept-encoding': accepted });
      expect([accepted, response.header('content-encoding'), response.header('vary')]).toEqual([
        accepted,
        coding,
        'Accept-Encoding',
      ]);
      const sent = { br: brotliCompressSync(script), gzip: gzipSync(script), plain: Buffer.from(script) };
      expect(response.body.equals(sent[coding ?? 'plain'])).toBe(true);
    }
    expect((await ask('/favicon.svg', { 'accept-encoding': 'br' })).header('vary')).toBeUndefined();
  });

  it('are not sent again to whom has them', async () => {
    const compressed = { 'accept-encoding': 'br' };
    const etag = (await ask('/', compressed)).header('etag')!;
    const plain = (await ask('/')).header('etag')!;
    expect(etag).not.toBe(plain);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await ask('/', { ...compressed, 'if-none-match': known });
      expect([response.status, response.text, response.header('etag')]).toEqual([304, '', etag]);
      expect(response.header('content-security-policy')).toBe(pagePolicy(service.url));
    }
    expect((await ask('/', { 'if-none-match': etag })).status).toBe(200);
  });

  it('are read, and nothing else is done with them', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE']) {
      const response = await ask('/', { 'content-length': '0' }, method);
      expect([method, response.status, response.header('allow')]).toEqual([method, 405, 'GET, HEAD']);
      expect(securityOf(response)).toEqual(secure(refusalPolicy));
    }
  });
});

describe('the headers of the console', () => {
  it('let the page run its own scripts, speak to the endpoint, and be framed by nobody', async () => {
    for (const target of ['/', '/b/bucket/preview/', '/assets/app-1a2b3c4d.js', '/config.json', '/favicon.svg']) {
      expect(securityOf(await ask(target))).toEqual(secure(pagePolicy(service.url)));
    }
    expect(securityOf(await ask('/assets/missing'))).toEqual(secure(refusalPolicy));
  });

  it('sandbox what objects are drawn in', async () => {
    for (const target of ['/preview/frame.html', '/preview/frame.js']) {
      expect(securityOf(await ask(target))).toEqual(secure(previewPolicy(originOf('127.0.0.1')), 'cross-origin'));
    }
    const response = await ask('/preview/frame.html', { host: `localhost:${port}` });
    expect(response.header('content-security-policy')).toBe(previewPolicy(originOf('localhost')));
  });
});

describe('the console', () => {
  it('is told of the service by the host name that it was opened under', async () => {
    const response = await ask('/config.json');
    expect([response.status, response.header('content-type'), response.header('cache-control')]).toEqual([
      200,
      'application/json',
      'no-store',
    ]);
    const { version } = packageJson;
    const websites = `http://*.website.localhost:${service.port}`;
    expect(JSON.parse(response.text)).toEqual({ endpoint: service.url, region: 'us-east-1', version, websites });
    const byName = await ask('/config.json', { host: `localhost:${port}` });
    expect(JSON.parse(byName.text)).toMatchObject({ endpoint: `http://localhost:${service.port}` });
  });

  it('answers under no other host name, so that nobody can make one lead to it', async () => {
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1',
      'localhost:1',
      `127.0.0.2:${port}`,
      'a b',
      '',
    ]) {
      for (const target of ['/', '/config.json', '/assets/app-1a2b3c4d.js']) {
        const response = await ask(target, { host });
        expect([host, response.status], response.text).toEqual([host, 421]);
        expect(response.text).toContain('--console-origin');
        expect(securityOf(response)).toEqual(secure(refusalPolicy));
      }
    }
  });

  it('is shown at the start, beside the endpoint', () => {
    expect(service.output.stderr).toBe(
      `Stillage is listening on ${service.url}\nThe console is at ${originOf('127.0.0.1')}: sign in with an access key\n`,
    );
  });

  it('may call the API from where it is served, and nothing else on this machine may', async () => {
    const allowed = async (origin: string): Promise<string | undefined> => {
      const request = { path: '/', headers: { origin } };
      const host = new URL(service.url).host;
      return (await exchange(service.url, anonymous(host, request))).header('access-control-allow-origin');
    };
    for (const origin of [originOf('127.0.0.1'), originOf('localhost'), consoleOrigin]) {
      expect(await allowed(origin)).toBe(origin);
    }
    for (const origin of [service.url, `https://localhost:${port}`, 'http://localhost', originOf('127.0.0.2')]) {
      expect(await allowed(origin)).toBeUndefined();
    }
  });

  it('is not where objects are', async () => {
    const host = new URL(service.url).host;
    for (const target of ['/assets/app-1a2b3c4d.js', '/index.html', '/config.json']) {
      const response = await exchange(service.url, anonymous(host, { path: target }));
      expect(response.status).toBe(404);
      expect(response.header('content-type')).toBe('application/xml');
    }
  });
});

describe('a start', () => {
  it('says in a line that the port of the console is taken, and serves without one', async () => {
    const other = await occupied();
    const taken = (other.address() as AddressInfo).port;
    const running = await start('--console-port', String(taken));
    expect(running.output.stderr).toBe(
      `There is no console: port ${taken} is taken; choose another one with --console-port\nStillage is listening on ${running.url}\n`,
    );
    // Another server listens on that port, so it is not the console's origin.
    const request = anonymous(new URL(running.url).host, {
      path: '/',
      headers: { origin: `http://localhost:${taken}` },
    });
    expect((await exchange(running.url, request)).header('access-control-allow-origin')).toBeUndefined();
    expect(await running.stop()).toBe(0);
    other.close();
  });

  it('says in a line that the console was not built, and serves without one', async () => {
    const nowhere = join(folder, 'nowhere');
    const running = await start('--console-port', String(await freePort()), '--console-files', nowhere);
    expect(running.output.stderr).toBe(
      `There is no console: it is not in ${nowhere}: build it with "node bin/build.mjs", or use --console-port 0\n` +
        `Stillage is listening on ${running.url}\n`,
    );
    expect(await running.stop()).toBe(0);
  });

  it('tells the console where clients reach the service', async () => {
    const at = await freePort();
    const running = await start(
      ...['--console-port', String(at), '--public-url', 'https://storage.example.com'],
      ...['--console-origin', 'https://console.example.com'],
    );
    for (const host of [`127.0.0.1:${at}`, 'console.example.com']) {
      const request = { method: 'GET', target: '/config.json', headers: [['host', host]] as const };
      const response = await exchange(`http://127.0.0.1:${at}`, request);
      expect(JSON.parse(response.text)).toMatchObject({ endpoint: 'https://storage.example.com' });
      expect(response.header('content-security-policy')).toBe(pagePolicy('https://storage.example.com'));
    }
    expect(await running.stop()).toBe(0);
  });

  it('serves the console by HTTPS if it serves the API so', async () => {
    const at = await freePort();
    const { authority, certificate, key } = await issueCertificate(folder, ['localhost', '127.0.0.1']);
    const running = await start('--console-port', String(at), '--tls-cert', certificate, '--tls-key', key);
    expect(running.output.stderr).toContain(`The console is at https://127.0.0.1:${at}:`);
    const config = await askSecurely(at, '/config.json', authority);
    expect(JSON.parse(config.text)).toMatchObject({ endpoint: `https://localhost:${running.port}` });
    const preview = await askSecurely(at, '/preview/frame.html', authority);
    expect(preview.policy).toBe(previewPolicy(`https://localhost:${at}`));
    expect(await running.stop()).toBe(0);
  });

  it.each([
    ['--console-port', 'x', 'Must be a port number, from 0 to 65535.'],
    ['--console-port', '65536', 'Must be a port number, from 0 to 65535.'],
    ['--console-origin', '*', 'Must be an origin such as'],
    ['--console-origin', 'null', 'Must be an origin such as'],
    ['--console-origin', 'console.example.com', 'Must be an origin such as'],
    ['--console-origin', 'https://console.example.com/', 'Must be an origin such as'],
    ['--console-origin', 'https://console.example.com:443', 'Must be an origin such as'],
    ['--console-origin', 'https://Console.example.com', 'Must be an origin such as'],
    ['--console-origin', 'https://*.example.com', 'Must be an origin such as'],
    ['--console-origin', 'file:///', 'Must be an origin such as'],
    ['--console-origin', 'http://localhost:9000', 'the service serves objects there'],
    ['--console-origin', 'http://127.0.0.1:9000', 'the service serves objects there'],
    ['--console-origin', 'http://console.localhost:9000', 'the service serves objects there'],
  ])('refuses %s %s', async (option, value, message) => {
    const { code, stderr } = await runWarm(['start', '--data', join(folder, 'data'), option, value]);
    expect([code, stderr]).toEqual([message.startsWith('Must be') ? 2 : 1, expect.stringContaining(message)]);
    expect(stderr).toMatch(/^[^\n]+\n$/);
  });

  it('refuses an origin of the console where a proxy serves objects', async () => {
    const names = ['--domain', 'storage.example.com', '--public-url', 'https://storage.example.com'];
    for (const origin of ['https://storage.example.com', 'https://console.storage.example.com']) {
      const args = ['start', '--data', join(folder, 'data'), ...names, '--console-origin', origin];
      expect((await runWarm(args)).stderr).toMatch(
        /^stillage: --console-origin https:\S+: the service serves objects there[^\n]+\n$/,
      );
    }
  });
});

describe('the console learns', () => {
  const actual = {
    'access-control-allow-origin': consoleOrigin,
    'access-control-expose-headers': '*',
    vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
  };
  const corsOf = ({ headers }: RawResponse): Record<string, string> =>
    Object.fromEntries(headers.filter(([name]) => name === 'vary' || name.startsWith('access-control-')));
  const headers = { origin: consoleOrigin };

  it('that it asks too much', async () => {
    const strict = await startService({ args: ['--limit', 'requestsPerSecond=1'] });
    const list = signed(new URL(strict.url).host, { path: '/', headers }, { key: alice });
    const responses = await Promise.all(Array.from({ length: 20 }, () => exchange(strict.url, list)));
    const refused = responses.filter(({ status }) => status === 503);
    expect(refused).not.toEqual([]);
    for (const response of refused) expect(corsOf(response)).toEqual(actual);
    expect(await strict.stop()).toBe(0);
  });

  it('that its upload took too long', async () => {
    const hasty = await startService({ args: ['--limit', 'requestDuration=1000'] });
    const host = new URL(hasty.url).host;
    const create = signed(host, { method: 'PUT', path: '/bucket' }, { key: alice });
    expect((await exchange(hasty.url, create)).status).toBe(200);
    const request = signed(
      host,
      { method: 'PUT', path: '/bucket/key', headers: { ...headers, 'content-length': '10' } },
      { key: alice, payloadHash: 'UNSIGNED-PAYLOAD' },
    );
    const connection = await RawConnection.open(hasty.url);
    connection.write(requestBytes({ ...request, body: 'x' }));
    const response = await connection.response('PUT');
    connection.close();
    expect([response.status, corsOf(response)]).toEqual([408, actual]);
    expect(await hasty.stop()).toBe(0);
  });
});
