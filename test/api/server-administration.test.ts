import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { administrationCommands } from '../../local/cli/commands/administration-commands.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { startService, type Service } from '../support/programs/server.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { freePort } from '../support/runs/free-port.ts';

/** Operators over HTTP: their tokens, what these allow, and what strangers and browsers get. */

const base = '/_stillage/admin/v1';

let folder: string;
let port: number;
let service: Service;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-operators-'));
  port = await freePort();
  await start();
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

async function start(): Promise<void> {
  service = await startService({ data: join(folder, 'data'), args: ['--admin-port', String(port)] });
}

async function stillage(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runWarm([...args, '--data', join(folder, 'data')]);
  expect(code, stderr).toBe(0);
  return stdout.trim();
}

const tokenOf = (name: string, ...args: string[]): Promise<string> => stillage('operator', 'create', name, ...args);

interface Asked {
  readonly path?: string;
  readonly method?: string;
  readonly token?: string | undefined;
  readonly body?: string | object;
  readonly headers?: readonly (readonly [string, string])[];
  readonly host?: string;
}

async function ask({
  path = '/customer/list',
  method = 'POST',
  token,
  body = {},
  ...more
}: Asked): Promise<RawResponse> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return exchange(`http://127.0.0.1:${port}`, {
    ...{ method, target: path.startsWith('/_') ? path : base + path, body: text },
    headers: [
      ['host', more.host ?? `127.0.0.1:${port}`],
      ...(method === 'POST' ? ([['content-type', 'application/json']] as const) : []),
      ['content-length', String(Buffer.byteLength(text))],
      ...(token === undefined ? [] : ([['authorization', `Bearer ${token}`]] as const)),
      ...(more.headers ?? []),
    ],
  });
}

/** Expects a refusal as RFC 9457 has it. */
function expectProblem(response: RawResponse, status: number, detail: RegExp): void {
  expect(response.status, response.text).toBe(status);
  expect(response.header('content-type')).toBe('application/problem+json');
  expect(JSON.parse(response.text)).toMatchObject({
    type: 'about:blank',
    status,
    detail: expect.stringMatching(detail) as string,
  });
}

describe('a token of an operator', () => {
  it('is wanted, whole and valid, in one place', async () => {
    const token = await tokenOf('whole', '--scope', 'manage');
    expect((await ask({ token })).status).toBe(200);
    const wrong = [
      undefined,
      token.slice(0, -1),
      `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
      token.toLowerCase(),
      `stillage_${'A'.repeat(43)}`,
      '',
    ];
    for (const one of wrong) {
      const refused = await ask({ token: one });
      expectProblem(refused, 401, /valid token/);
      expect(refused.header('www-authenticate')).toMatch(/^Bearer realm="stillage"/);
    }
    expectProblem(await ask({ path: `/customer/list?access_token=${token}` }), 400, /query/);
    expectProblem(await ask({ headers: [['authorization', `Basic ${btoa(`whole:${token}`)}`]] }), 401, /valid token/);
  });

  it('says nothing of what there is without one', async () => {
    const [known, unknown] = [await ask({}), await ask({ path: '/no/such' })];
    expect([unknown.status, unknown.text]).toEqual([known.status, known.text]);
  });

  it('is refused once it has expired, and from the request after its removal', async () => {
    const short = await tokenOf('short', '--lifetime', '1s');
    await expect.poll(async () => (await ask({ token: short })).status).toBe(401);
    const gone = await tokenOf('gone');
    expect((await ask({ token: gone })).status).toBe(200);
    await stillage('operator', 'remove', 'gone');
    expect((await ask({ token: gone })).status).toBe(401);
    const again = await tokenOf('gone');
    expect([(await ask({ token: gone })).status, (await ask({ token: again })).status]).toEqual([401, 200]);
  });

  it('is kept as a hash, and shows its last use', async () => {
    const token = await tokenOf('hashed');
    const listed = async (): Promise<Record<string, unknown>> => {
      const all = JSON.parse(await stillage('operator', 'list', '--json')) as Record<string, unknown>[];
      return all.find(({ operator }) => operator === 'hashed')!;
    };
    expect(await listed()).toEqual({ operator: 'hashed', scopes: ['read'], created: expect.any(Number) as number });
    await ask({ token });
    expect(await listed()).toMatchObject({ used: expect.any(Number) as number });
    expect(JSON.stringify(await listed())).not.toContain(token.slice(9));
    expect(service.output.stdout).not.toContain(token.slice(9));
  });

  it('tells whom it belongs to and what it allows, and shows no more', async () => {
    const token = await tokenOf('teller', '--scope', 'read', '--scope', 'bill', '--lifetime', '1h');
    const told = await ask({ token, method: 'GET', path: `${base}/token`, body: '' });
    const [created, until] = [expect.any(Number), expect.any(Number)] as [number, number];
    expect([told.status, JSON.parse(told.text)]).toEqual([
      200,
      { operator: 'teller', scopes: ['read', 'bill'], created, until },
    ]);
    expectProblem(await ask({ method: 'GET', path: `${base}/token`, body: '' }), 401, /valid token/);
    expectProblem(await ask({ token, path: `${base}/token` }), 405, /GET/);
  });

  it.each(['read', 'bill', 'manage'])('of the scope %s may do that alone', async (scope) => {
    const token = await tokenOf(`only-${scope}`, '--scope', scope);
    const allows = { read: ['read'], bill: ['bill'], manage: ['read', 'bill', 'manage'] }[scope]!;
    for (const command of administrationCommands) {
      const path = `/${command.name.replaceAll(' ', '/')}`;
      // Arguments that no command takes: whoever may call it is told so, and nothing is done.
      const { status, text } = await ask({ token, path, body: { nothing: 1 } });
      expect([command.name, status], text).toEqual([command.name, allows.includes(command.scope) ? 400 : 403]);
    }
  });
});

describe('a request of an operator', () => {
  let token: string;
  beforeAll(async () => {
    token = await tokenOf('requests', '--scope', 'manage');
  });

  it('takes the arguments of a command, and no others', async () => {
    const made = await ask({ token, path: '/customer/create', body: { customer: 'acme' } });
    expect([made.status, JSON.parse(made.text)]).toMatchObject([200, { customer: 'acme', suspended: false }]);
    const create = { token, path: '/customer/create' };
    expectProblem(await ask({ ...create, body: { customer: 'x', suspended: true } }), 400, /does not take suspended/);
    expectProblem(await ask({ ...create, body: { customer: 1 } }), 400, /customer must be a string/);
    expectProblem(await ask({ ...create, body: {} }), 400, /customer must be/);
    expectProblem(await ask({ ...create, body: '[]' }), 400, /must be/);
    expectProblem(await ask({ ...create, body: '{' }), 400, /not JSON/);
    expectProblem(await ask({ ...create, body: { customer: 'acme' } }), 409, /already exists/);
    expectProblem(await ask({ ...create, body: `{"customer":"${'x'.repeat(1_100_000)}"}` }), 413, /at most/);
    expectProblem(await ask({ token, path: '/no/such' }), 404, /openapi/);
    expectProblem(await ask({ token, method: 'GET', body: '' }), 405, /POST/);
    const text = { path: '/customer/list', token, headers: [['content-type', 'text/plain']] as const };
    expectProblem(await ask(text), 415, /application\/json/);
    expectProblem(await ask({ token, path: '/quota/show/bucket', body: { bucket: 'no-such' } }), 404, /bucket/);
  });

  it('gets lists in pages, and a problem for a place that is in no list', async () => {
    for (const customer of ['page-1', 'page-2', 'page-3'])
      await ask({ token, path: '/customer/create', body: { customer } });
    const names: string[] = [];
    for (let after: string | undefined = 'page-'; after !== undefined;) {
      const { status, text } = await ask({ token, body: { after, limit: 2 } });
      expect(status, text).toBe(200);
      const page = JSON.parse(text) as { customers: { customer: string }[]; next?: string };
      expect(page.customers.length).toBeLessThanOrEqual(2);
      names.push(...page.customers.map(({ customer }) => customer));
      after = page.next;
    }
    expect(names).toEqual(['page-1', 'page-2', 'page-3']);
    for (const after of ['', 'a\nb', '../x', '\u0000', 'é', 'x'.repeat(100_000)])
      expectProblem(
        await ask({ token, body: { after } }),
        400,
        /^customer list: after must be the next of another page/,
      );
    for (const limit of [0, -1, 1.5, 1001, '10', null])
      expectProblem(
        await ask({ token, body: { limit } }),
        400,
        /^customer list: limit must be a whole number from 1 to/,
      );
    expectProblem(await ask({ token, path: '/customer/list?limit=1' }), 400, /query/);
  });

  it('comes from no page of a browser but its own, and from no other name of this machine', async () => {
    const others = [`https://127.0.0.1:${port}`, `http://localhost:${port}`, `http://127.0.0.1:${port + 1}`];
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1', ...others]) {
      expectProblem(await ask({ token, headers: [['origin', origin]] }), 403, /browser/);
    }
    expect((await ask({ token, headers: [['origin', `http://127.0.0.1:${port}`]] })).status).toBe(200);
    expect((await ask({ token, host: `evil.example:${port}` })).status).toBe(421);
    const preflight = await ask({ method: 'OPTIONS', body: '', headers: [['origin', 'https://evil.example']] });
    expect(preflight.header('access-control-allow-origin')).toBeUndefined();
  });

  it('is carried out once for an Idempotency-Key, also after a restart, and answered again with the same secret', async () => {
    const send = (body: object, key: string, path = '/key/create'): Promise<RawResponse> =>
      ask({ token, path, body, headers: [['idempotency-key', key]] });
    await send({ project: 'shop@acme' }, 'project', '/project/create');
    await send({ user: 'shop:ci@acme' }, 'user', '/user/create');
    const first = await send({ user: 'shop:ci@acme' }, 'one');
    expect(first.status, first.text).toBe(200);
    await service.stop();
    await start();
    const again = await send({ user: 'shop:ci@acme' }, 'one');
    expect([again.text, again.header('idempotency-replayed')]).toEqual([first.text, 'true']);
    const listed = await ask({ token, path: '/key/list', body: { of: 'shop:ci@acme' } });
    expect((JSON.parse(listed.text) as { keys: unknown[] }).keys).toHaveLength(1);
    expectProblem(await send({ user: 'shop:other@acme' }, 'one'), 422, /another request/);
    // Of another operator, it is another key.
    const other = await tokenOf('second', '--scope', 'manage');
    const theirs = await ask({
      ...{ token: other, path: '/key/create', body: { user: 'shop:ci@acme' }, headers: [['idempotency-key', 'one']] },
    });
    expect([theirs.status, theirs.text === first.text]).toEqual([200, false]);
    const refused = await send({ customer: 'acme' }, 'refused', '/customer/create');
    expect((await send({ customer: 'acme' }, 'refused', '/customer/create')).text).toBe(refused.text);
    const many = await Promise.all(Array.from({ length: 8 }, () => send({ user: 'shop:ci@acme' }, 'many')));
    expect(new Set(many.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(1);
    expect(many.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual([]);
  });

  it('stands in the log with who asked for what, and without secrets', async () => {
    await ask({ token, path: '/key/create', body: { user: 'shop:ci@acme', secret: 'a-secret-of-the-log' } });
    await expect.poll(() => service.output.stdout).toContain('"command":"key create"');
    const line = service.output.stdout.split('\n').findLast((one) => one.includes('"command":"key create"'));
    expect(JSON.parse(line!)).toMatchObject({ message: 'administration', operator: 'requests', status: 200 });
    expect(service.output.stdout).not.toContain('a-secret-of-the-log');
  });
});

describe('a proxy with TLS before the listener of operators', () => {
  const adminUrl = 'https://operators.example.com';
  let behind: number;
  let proxied: Service;
  beforeAll(async () => {
    behind = await freePort();
    const args = ['--admin-port', String(behind), '--admin-url', adminUrl, '--trust-proxy', '127.0.0.1'];
    proxied = await startService({ data: join(folder, 'proxied'), args });
  });
  afterAll(() => proxied.stop());

  /** A request as a proxy passes it on. */
  const passed = async (host: string, origin?: string): Promise<number> => {
    const headers = [
      ['host', host],
      ['content-type', 'application/json'],
      ['content-length', '2'],
      ['x-forwarded-for', '203.0.113.7'],
      ['x-forwarded-proto', 'https'],
      ...(origin === undefined ? [] : [['origin', origin] as const]),
      ['authorization', `Bearer ${token}`],
    ] as const;
    const target = `${base}/customer/create`;
    const sent = { method: 'POST', target, headers: [...headers], body: '{}' };
    return (await exchange(`http://127.0.0.1:${behind}`, sent)).status;
  };
  let token = '';

  it('lets pages of its own origin in, and of no other, by whatever name', async () => {
    const created = await runWarm(['operator', 'create', 'p', '--scope', 'manage', '--data', join(folder, 'proxied')]);
    token = created.stdout.trim();
    // 400: it is let in, and asks for nothing.
    const [name, here] = ['operators.example.com', `127.0.0.1:${behind}`];
    for (const host of [name, 'Operators.Example.com', here, 'localhost'])
      expect([host, await passed(host), await passed(host, adminUrl)]).toEqual([host, 400, 400]);
    expect(await passed(here, `http://${here}`)).toBe(400);
    const strange = ['http://operators.example.com', `${adminUrl}:8443`, 'https://evil.example', 'null'];
    for (const origin of [...strange, `https://${here}`])
      for (const host of [name, here]) expect([origin, host, await passed(host, origin)]).toEqual([origin, host, 403]);
    // A page of another host whose name resolves to this address.
    for (const host of ['evil.example', `evil.example:${behind}`, `${name}.evil.example`, `${name}:8443`])
      for (const origin of [undefined, adminUrl, `http://${host}`])
        expect([host, origin, await passed(host, origin)]).toEqual([host, origin, 421]);
  });

  it('tells from where a request came', async () => {
    await passed('operators.example.com');
    await expect
      .poll(async () => (await runWarm(['audit', '--json', '--data', join(folder, 'proxied')])).stdout)
      .toContain('"203.0.113.7"');
  });
});

it('the listener of operators is not that of S3, and S3 knows no operators', async () => {
  const token = await tokenOf('elsewhere', '--scope', 'manage');
  const { port: api } = new URL(service.url);
  const response = await exchange(service.url, {
    ...{ method: 'POST', target: `${base}/customer/list`, body: '{}' },
    headers: [
      ['host', `127.0.0.1:${api}`],
      ['authorization', `Bearer ${token}`],
      ['content-length', '2'],
    ],
  });
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(response.text).not.toContain('acme');
});

it('commands say in a line what is wrong with an endpoint or its token', async () => {
  const file = join(folder, 'token');
  await writeFile(file, 'nonsense');
  const endpoint = `http://127.0.0.1:${port}`;
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['--endpoint', endpoint], 2, /^stillage: --endpoint needs --token-file/],
    [['--token-file', file], 2, /^stillage: --token-file needs --endpoint/],
    [['--endpoint', endpoint, '--token-file', join(folder, 'none')], 1, /^stillage: --token-file: cannot read /],
    [['--endpoint', endpoint, '--token-file', file], 1, /^stillage: A valid token of an operator is wanted/],
    [['--endpoint', 'http://127.0.0.1:1', '--token-file', file], 1, /^stillage: --endpoint: .* does not answer: /],
    [
      ['--endpoint', service.url, '--token-file', file],
      1,
      /^stillage: --endpoint: .* does not answer as a service does/,
    ],
    [['--endpoint', endpoint, '--data', folder], 2, /^stillage: --data and --endpoint cannot be used together/],
  ];
  for (const [args, exitCode, line] of cases) {
    const { code, stderr } = await runWarm(['customer', 'list', ...args]);
    expect([args, code, stderr]).toEqual([args, exitCode, expect.stringMatching(line)]);
    expect(stderr.trimEnd()).not.toContain('\n');
  }
});
