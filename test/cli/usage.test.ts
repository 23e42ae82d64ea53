import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { administer } from '../support/storage/administration.ts';
import { textOf } from '../support/clients/expect-error.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { exchange, type RawResponse } from '../support/clients/raw-client.ts';
import { alice, bob, startService, type Service } from '../support/programs/server.ts';
import { anonymous, signed, type Key, type Unsigned } from '../support/clients/signer.ts';

interface Line {
  readonly day: string;
  readonly a: number;
  readonly b: number;
  readonly free: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly byteHours: number;
  readonly objects: number;
}

interface Bill {
  readonly project: string;
  readonly days: readonly Line[];
  readonly total: Line;
}

let folder: string;
let data: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stillage-usage-'));
  data = join(folder, 'data');
});
afterAll(() => rm(folder, { recursive: true }));

const bill = (project = 'main@example.test'): Promise<Bill> => administer<Bill>(data, 'usage', project);

async function send({ url }: Service, request: Unsigned, key: Key | undefined, status: number): Promise<RawResponse> {
  const { host } = new URL(url);
  const answer = await exchange(url, key ? signed(host, request, { key }) : anonymous(host, request));
  expect(answer.status, answer.text).toBe(status);
  return answer;
}

it('the bill has what was asked of the buckets of a project, and what lay in them', async () => {
  const first = await startService({ data });
  const object = { path: '/usage-test/key' };
  await send(first, { method: 'PUT', path: '/usage-test' }, alice, 200);
  await send(first, { method: 'PUT', ...object, body: 'x'.repeat(1_000_000) }, alice, 200);
  await send(first, object, alice, 200);
  await send(first, { ...object, headers: { range: 'bytes=0-99' } }, alice, 206);
  await send(first, { method: 'HEAD', ...object }, alice, 200);
  await send(first, { path: '/usage-test', query: 'list-type=2' }, alice, 200);
  await send(first, { method: 'DELETE', path: '/usage-test/other' }, alice, 204);
  // A refused request is billed to nobody.
  await send(first, object, bob, 403);
  await send(first, object, undefined, 403);
  // A public link is followed anonymously, so the owner of the bucket is billed.
  const made = await send(first, { method: 'POST', ...object, query: 'public-link' }, alice, 201);
  const { pathname } = new URL(textOf(made.text, 'Url')!);
  const followed = await send(first, { path: pathname }, undefined, 200);
  expect(followed.body.length).toBe(1_000_000);
  await first.stop();

  const { project, total } = await bill();
  expect(project).toBe('main@example.test');
  expect(total).toMatchObject({ a: 4, b: 4, free: 1, bytesIn: 1_000_000, objects: 1 });
  expect(total.bytesOut).toBeGreaterThan(2_000_100);
  expect(total.bytesOut).toBeLessThan(2_010_000);
  expect((await bill('other@example.test')).total).toMatchObject({ a: 0, b: 0, free: 0, bytesOut: 0, objects: 0 });

  // Storage is billed even while the service is stopped.
  const later = await untilFound(async () => {
    const now = (await bill()).total;
    return now.byteHours > total.byteHours ? now : undefined;
  });
  expect(later.byteHours).toBeLessThan(1_000_000);

  const second = await startService({ data });
  await send(second, object, alice, 200);
  await send(second, { method: 'PUT', path: '/usage-test/more', body: 'more' }, alice, 200);
  // A crash loses at most the request counts of the last seconds, never those of storage.
  await second.kill();
  const third = await startService({ data });
  await send(third, { method: 'DELETE', ...object }, alice, 204);
  const counted = await untilFound(async () => {
    const now = (await bill()).total;
    return now.free === 2 && now.objects === 1 ? now : undefined;
  });
  expect(counted.b).toBeLessThanOrEqual(5);
  await third.stop();
});

it('the bill is a table, JSON or CSV', async () => {
  const shown = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runWarm(['usage', 'main@example.test', ...args, '--data', data]);
    expect(code, stderr).toBe(0);
    return stdout;
  };
  const { days, total } = await bill();
  const table = (await shown()).trimEnd().split('\n');
  expect(table[0]).toMatch(/^DAY +CLASS A +CLASS B +FREE +IN +OUT +STORED × HOURS +OBJECTS$/);
  // From the first day with any use on.
  const first = days.findIndex(({ a, b, free, byteHours }) => a + b + free + byteHours > 0);
  expect(table).toHaveLength(days.length - first + 2);
  expect(table[1]).toContain(days[first]!.day);
  expect(table.at(-1)).toMatch(/^total +/);
  const csv = (await shown('--csv')).trimEnd().split('\n');
  expect(csv[0]).toBe('day,a,b,free,bytesIn,bytesOut,byteHours,objects');
  expect(csv).toHaveLength(days.length + 1);
  const { day, a, b, free, bytesIn, bytesOut } = days.at(-1)!;
  expect(csv.at(-1)).toMatch(
    new RegExp(`^${[day, a, b, free, bytesIn, bytesOut].join(',')},[\\d.e+]+,${total.objects}$`),
  );
  expect(await shown('--month', '2999-01')).toBe('2999-01 has not begun\n');
  expect(await shown('--month', '2001-02', '--csv')).toContain('\n2001-02-28,0,0,0,0,0,0,0\n');
  expect(JSON.parse(await shown('--month', '2999-01', '--json'))).toMatchObject({ month: '2999-01', days: [] });

  for (const [args, code] of [
    [['--month', '2026-13'], 2],
    [['--month', 'may'], 2],
    [['--csv', '--json'], 2],
  ] as const) {
    expect((await runWarm(['usage', 'main@example.test', ...args, '--data', data])).code).toBe(code);
  }
  expect((await runWarm(['usage', 'no@body', '--data', data])).code).toBe(1);
});
