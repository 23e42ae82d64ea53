import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type Service } from '../support/programs/server.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { freePort } from '../support/runs/free-port.ts';

let folder: string;
let service: Service;
let platform: ChildProcess;
let url: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-platform-'));
  const port = await freePort();
  service = await startService({ data: join(folder, 'data'), args: ['--admin-port', String(port)] });
  const token = join(folder, 'token');
  await writeFile(token, await stillage('operator', 'create', 'platform', '--scope', 'manage'));
  platform = spawn(process.execPath, ['examples/platform/platform.mjs'], {
    cwd: join(import.meta.dirname, '../..'),
    env: {
      ...process.env,
      ...{ S3_ENDPOINT: service.url, ADMIN_ENDPOINT: `http://127.0.0.1:${port}`, ADMIN_TOKEN_FILE: token, PORT: '0' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  [url] = (await once(createInterface(platform.stdout!), 'line')) as [string];
});
afterAll(async () => {
  platform.kill();
  await service.stop();
  await rm(folder, { recursive: true });
});

async function stillage(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runWarm([...args, '--data', join(folder, 'data')]);
  expect(code, stderr).toBe(0);
  return stdout;
}

async function ask(method: string, path: string): Promise<{ readonly status: number; readonly answer: object }> {
  const response = await fetch(url + path, { method });
  return { status: response.status, answer: (await response.json()) as object };
}

async function uploadUrl(visitor: string, name: string): Promise<string> {
  const { answer } = await ask('POST', `/upload-url?customer=acme&visitor=${visitor}&name=${name}`);
  return (answer as { readonly url: string }).url;
}

describe('examples/platform', () => {
  it('signs a customer up, once however often it is asked', async () => {
    const made = await ask('POST', '/sign-up?customer=acme');
    expect(made).toMatchObject({ status: 200, answer: { project: 'files@acme', bucket: 'acme-files' } });
    expect(await ask('POST', '/sign-up?customer=acme')).toEqual(made);
    expect(JSON.parse(await stillage('key', 'list', 'files@acme', '--json'))).toHaveLength(1);
    expect((await ask('POST', '/sign-up?customer=a%20b')).status).toBe(400);
  });

  it('lets browsers upload below their own prefix alone', async () => {
    const signed = await uploadUrl('visitor', 'a.txt');
    const { origin } = new URL(url);
    const preflight = await fetch(signed, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'PUT' },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
    expect((await fetch(signed, { method: 'PUT', body: 'hello' })).status).toBe(200);
    expect((await fetch(signed.replace('/visitor/', '/another/'), { method: 'PUT', body: 'x' })).status).toBe(403);
    expect((await fetch(signed)).status).toBe(403);
    // Counters follow the change feed.
    await expect
      .poll(async () => JSON.parse(await stillage('bucket', 'list', 'files@acme', '--json')) as object[])
      .toEqual([expect.objectContaining({ bucket: 'acme-files', objects: 1, bytes: 5 })]);
  });

  it('shows the bill, and suspends', async () => {
    const { answer } = await ask('GET', '/bill?customer=acme');
    expect(answer).toMatchObject({ customer: 'acme', days: expect.any(Array) as unknown[] });
    const signed = await uploadUrl('visitor', 'late.txt');
    expect((await ask('POST', '/suspend?customer=acme')).status).toBe(200);
    await expect.poll(async () => (await fetch(signed, { method: 'PUT', body: 'x' })).status).toBe(403);
  });
});
