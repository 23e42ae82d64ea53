import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProxyResult } from '../../functions/cloud/api-gateway.ts';
import type { AuditRecord } from '../../shared/audit/audit-record.ts';
import { administer } from '../support/storage/administration.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { skip } from '../support/programs/programs.ts';
import { AdministrationUnderTest, noCloud } from './administration-under-test.ts';
import { toEvent, toResponse } from './rest-api.ts';

/** Administration of a deployment over HTTP, as its templates have it, and who did what there. */

const stage = 'prod';
let under: AdministrationUnderTest | undefined;
let api: Server;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-cloud-admin-'));
  // The program keeps the environment that it begins with, which is not to be that of a function.
  await runWarm(['--help']);
  under = await AdministrationUnderTest.start({ isOverHttp: true });
  api = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  api.closeAllConnections();
  api.close();
  await under?.stop();
  await rm(folder, { recursive: true });
});

const url = (): string => `http://127.0.0.1:${(api.address() as AddressInfo).port}/${stage}`;

/** Passes a request on as API Gateway does. */
async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const target = request.url!.slice(`/${stage}`.length);
  if (!target.startsWith('/_stillage/admin/v1/')) return void response.writeHead(403).end();
  const pairs = request.rawHeaders.flatMap((name, at, all) => (at % 2 === 0 ? [[name, all[at + 1]!] as const] : []));
  const event = toEvent(
    { method: request.method!, target, headers: pairs, body: Buffer.concat(chunks), sourceIp: '203.0.113.7' },
    stage,
  );
  const answer = toResponse(await under!.deployment.invoke<ProxyResult>('AdministerOverHttp', event));
  response.writeHead(answer.status, answer.headers.flat()).end(answer.body);
}

const tokenOf = async (name: string, scope: string): Promise<string> =>
  (await administer<{ token: string }>(under!.place, 'operator', 'create', name, '--scope', scope)).token;

const ask = async (path: string, token?: string, more: RequestInit = {}): Promise<Response> =>
  fetch(`${url()}/_stillage/admin/v1${path}`, {
    ...{ method: 'POST', body: '{}', ...more },
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(more.headers as Record<string, string> | undefined),
    },
  });

describe('a deployment', () => {
  it('is administered over HTTP by operators whom IAM lets make', async (context) => {
    if (under === undefined) return skip(context, noCloud);
    const [manage, read] = [await tokenOf('platform', 'manage'), await tokenOf('support', 'read')];
    const file = join(folder, 'token');
    await writeFile(file, manage);
    const remote = ['--endpoint', url(), '--token-file', file];
    const made = await runWarm(['customer', 'create', 'acme', ...remote]);
    expect([made.code, made.stderr]).toEqual([0, '']);
    const listed = await ask('/customer/list', read);
    expect([listed.status, await listed.text()]).toEqual([200, expect.stringContaining('"acme"')]);
    const statuses = await Promise.all([
      ask('/customer/suspend', read, { body: '{"customer":"acme"}' }),
      ask('/customer/list'),
      ask('/customer/list', `${manage.slice(0, -1)}x`),
      ask('/customer/list?limit=1', manage),
      ask('/customer/list', manage, { headers: { origin: url().slice(0, -stage.length - 1) } }),
      ask('/operator/create', manage, { body: '{"operator":"another","scopes":["manage"]}' }),
      ask('/openapi.json', undefined, { method: 'GET', body: null }),
      ask('/token', read, { method: 'GET', body: null }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([403, 401, 401, 400, 403, 404, 200, 200]);
    expect(await statuses[6].text()).not.toContain('operator/create');
    const once = { headers: { 'idempotency-key': 'sign-up' }, body: '{"customer":"once"}' };
    expect((await ask('/customer/create', manage, once)).status).toBe(200);
    const again = await ask('/customer/create', manage, once);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    await administer(under.place, 'operator', 'remove', 'platform');
    expect((await ask('/customer/list', manage)).status).toBe(401);
  });

  it('takes down who administered it, by whatever way, and keeps it for its days', async (context) => {
    if (under === undefined) return skip(context, noCloud);
    await runWarm(['customer', 'create', 'acme', ...under.place.args], under.place.env);
    const records = await administer<AuditRecord[]>(under.place, 'audit');
    const shown = records.map(({ event, by, error }) => [event, by.kind, error ?? 'done']);
    expect(shown).toEqual([
      ['operator create', 'invoker', 'done'],
      ['operator create', 'invoker', 'done'],
      ['customer create', 'operator', 'done'],
      ['customer suspend', 'operator', '403'],
      ['customer create', 'operator', 'done'],
      ['customer create', 'operator', 'done'],
      ['operator remove', 'invoker', 'done'],
      ['customer create', 'invoker', 'Refused'],
    ]);
    expect(records[0]!.requestId).toMatch(/^invocation-/);
    expect(records[2]).toMatchObject({
      ...{ by: { operator: 'platform' }, address: '203.0.113.7', given: { customer: 'acme' } },
    });
    expect(JSON.stringify(records)).not.toContain('stillage_');
  });

  it('grants its functions what they need', (context) => {
    if (under === undefined) return skip(context, noCloud);
    expect(under.deployment.gate.denied).toEqual([]);
  });
});
