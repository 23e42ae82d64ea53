import { afterAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/runs/free-port.ts';
import { RawConnection } from '../support/clients/raw-client.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { signed } from '../support/clients/signer.ts';

/** What a browser that opens the API is shown. */

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const services: Service[] = [];
afterAll(async () => {
  for (const service of services) await service.stop();
});

async function start(env: Readonly<Record<string, string>>): Promise<Service> {
  const service = await startService({ env });
  services.push(service);
  return service;
}

async function get(service: Service, headers: Readonly<Record<string, string>>, path = '/') {
  const response = await fetch(`${service.url}${path}`, { headers, redirect: 'manual' });
  return { response, text: await response.text() };
}

describe('GET / without credentials (ListBuckets)', () => {
  it('tells a browser the port of the console, and sends it nowhere', async () => {
    const port = await freePort();
    const service = await start({ STILLAGE_CONSOLE_PORT: String(port) });
    const { response, text } = await get(service, { accept });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('location')).toBeNull();
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(text).toContain(`<a href="http://127.0.0.1:${port}">`);

    const plain = await get(service, { accept: '*/*' });
    expect(plain.response.headers.get('content-type')).toBe('application/xml');
    expect(plain.text).toContain('<ListAllMyBucketsResult');
    for (const headers of [{ accept: 'application/xml' }, { accept: 'text/htmlx' }]) {
      expect((await get(service, headers)).text).toBe(plain.text);
    }
    // What has parameters, or another place, is meant for the API.
    expect((await get(service, { accept }, '/?max-buckets=1')).text).toBe(plain.text);
    expect((await get(service, { accept }, '/bucket')).text).toContain('<Error>');

    const { host } = new URL(service.url);
    const { headers } = signed(host, { path: '/', headers: { accept } }, { key: alice });
    const own = await get(service, Object.fromEntries(headers.filter(([name]) => name.toLowerCase() !== 'host')));
    expect(own.text).toContain('<ListAllMyBucketsResult');
    expect(own.text).toContain('<ID>');
  });

  it('shows no markup of a Host header', async () => {
    const service = await start({ STILLAGE_CONSOLE_PORT: String(await freePort()) });
    const connection = await RawConnection.open(service.url);
    connection.write(`GET / HTTP/1.1\r\nhost: "><script>alert(1)</script>\r\naccept: ${accept}\r\n\r\n`);
    expect(String((await connection.response()).body)).not.toContain('<script>');
  });

  it('redirects a browser to the address that the operator named', async () => {
    const service = await start({ STILLAGE_CONSOLE_URL: 'https://console.example.com/' });
    const { response, text } = await get(service, { accept });
    expect([response.status, response.headers.get('location')]).toEqual([302, 'https://console.example.com']);
    expect(text).toContain('<a href="https://console.example.com">');
    expect((await get(service, {})).text).toContain('<ListAllMyBucketsResult');
  });

  it('is XML for a browser, too, if there is no console', async () => {
    const service = await start({});
    expect((await get(service, { accept })).text).toContain('<ListAllMyBucketsResult');
  });
});
