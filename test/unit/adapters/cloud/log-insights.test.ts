import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LogInsights } from '../../../../shared/adapters/cloud/log-insights.ts';
import { LogInsightsEngine } from '../../../support/cloud/log-insights.ts';

const noon = Date.UTC(2026, 10, 21, 12);
const lines: string[] = [];
const log = (after: number, fields: object): void => {
  lines.push(JSON.stringify({ timestamp: new Date(noon + after).toISOString(), message: 'request', ...fields }));
};
const charged = { payer: 'p', class: 'b', bytesIn: 1, bytesOut: 10 };

let server: Server;
let engine: LogInsightsEngine;
/** When log groups were created, if that matters. */
let created: Readonly<Record<string, number>>;
/** Answers instead of the engine. */
let instead: { status: number; body: object } | undefined;
/** Answers a query instead of the engine. */
let refusal: { status: number; body: object } | undefined;
beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const asked = engine.answer(String(request.headers['x-amz-target']), Buffer.concat(chunks).toString());
        void asked.then((answered) => {
          const isPoll = String(request.headers['x-amz-target']).endsWith('.GetQueryResults');
          const { status, body } = (isPoll ? instead : refusal) ?? answered;
          response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
        });
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  lines.length = 0;
  instead = undefined;
  refusal = undefined;
  created = {};
  engine = new LogInsightsEngine(
    async (group) => (group === 'others' ? undefined : group === 'requests' ? lines : []),
    (group) => created[group] ?? 0,
  );
});
afterAll(() => server.close());

const insights = (options: { maxLines?: number; groups?: string[] } = {}): LogInsights =>
  new LogInsights({
    ...{ groups: ['requests'], pollTime: 1, ...options },
    client: {
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
      maxAttempts: 1,
    },
  });

describe('LogInsights', () => {
  it('adds up what is charged, by payer and class', async () => {
    log(0, charged);
    log(5, charged);
    log(6, { ...charged, class: 'a' });
    log(7, { ...charged, payer: 'q' });
    log(8, { bytesIn: 5, bytesOut: 5 });
    log(9, { ...charged, message: 'note' });
    lines.push('START RequestId: 1');
    const found = await insights().between(noon, noon + 1000);
    expect(found).toHaveLength(3);
    expect(found).toEqual(
      expect.arrayContaining([
        { payer: 'p', class: 'b', requests: 2, bytesIn: 2, bytesOut: 20 },
        { payer: 'p', class: 'a', requests: 1, bytesIn: 1, bytesOut: 10 },
        { payer: 'q', class: 'b', requests: 1, bytesIn: 1, bytesOut: 10 },
      ]),
    );
  });

  it('adds counts of many requests to lines of one', async () => {
    log(0, charged);
    log(1, { ...charged, message: 'requests', requests: 250, bytesIn: 1000, bytesOut: 7 });
    log(2, { ...charged, message: 'requests', requests: 3, class: 'a' });
    // Of the sample: it is among those that were counted.
    log(3, { payer: 'p', bytesIn: 1, bytesOut: 10, sampled: 100 });
    const found = await insights().between(noon, noon + 1000);
    expect(found).toHaveLength(2);
    expect(found).toEqual(
      expect.arrayContaining([
        { payer: 'p', class: 'b', requests: 251, bytesIn: 1001, bytesOut: 17 },
        { payer: 'p', class: 'a', requests: 3, bytesIn: 1, bytesOut: 10 },
      ]),
    );
  });

  it('tells when keys were last used, beside what is charged', async () => {
    const use = { ...charged, class: 'free', message: 'requests', requests: 0, bytesIn: 0, bytesOut: 0 };
    const of = (usedKey: string, after: number, usedFor = 's3') =>
      log(after, { ...use, usedKey, usedFor, usedAt: noon + after });
    log(0, charged);
    of('AKIA1', 1);
    of('AKIA1', 2);
    of('AKIA2', 3, 'iam');
    const nothing = { payer: 'p', class: 'free', requests: 0, bytesIn: 0, bytesOut: 0 };
    for (const maxLines of [100, 4]) {
      const found = await insights({ maxLines }).between(noon, noon + 1000);
      expect(found).toHaveLength(3);
      expect(found).toEqual(
        expect.arrayContaining([
          { payer: 'p', class: 'b', requests: 1, bytesIn: 1, bytesOut: 10 },
          { ...nothing, use: { id: 'AKIA1', service: 's3', at: noon + 2 } },
          { ...nothing, use: { id: 'AKIA2', service: 'iam', at: noon + 3 } },
        ]),
      );
    }
  });

  it('counts a line of the last moment of an hour in that hour alone', async () => {
    log(-1, charged);
    log(0, charged);
    const of = async (from: number, until: number): Promise<number> =>
      (await insights().between(noon + from, noon + until)).reduce((sum, { requests }) => sum + requests, 0);
    expect(await of(-1000, 0)).toBe(1);
    expect(await of(0, 1000)).toBe(1);
    expect(await of(-1, 1)).toBe(2);
    expect(await of(1, 1000)).toBe(0);
  });

  it('asks for less at a time where an answer is as long as answers can be', async () => {
    for (let at = 0; at < 100; at += 1) log(at, { ...charged, payer: `p${at % 10}` });
    const found = await insights({ maxLines: 8 }).between(noon, noon + 100);
    expect(found).toHaveLength(10);
    expect(new Set(found.map(({ requests }) => requests))).toEqual(new Set([10]));
    expect(engine.queries.length).toBeGreaterThan(10);
  });

  it('does not pretend to know more than it is told', async () => {
    log(0, charged);
    await expect(insights({ maxLines: 1 }).between(noon, noon + 1)).rejects.toThrow('more than 1 projects');
    instead = { status: 200, body: { status: 'Failed' } };
    await expect(insights().between(noon, noon + 1)).rejects.toThrow('a query of the logs ended with status Failed');
    instead = { status: 200, body: { status: 'Complete', results: [[{ field: 'counts', value: '1.2' }]] } };
    await expect(insights().between(noon, noon + 1)).rejects.toThrow('the logs returned 1.2 instead of a number');
    await expect(insights({ groups: ['others'] }).between(noon, noon + 1)).rejects.toThrow('others');
  });

  it('takes what was before a log group for nothing, without losing what another one has', async () => {
    log(-10, charged);
    created = { requests: noon + 5000 };
    expect(await insights().between(noon - 1000, noon)).toEqual([]);
    created = { requests: noon - 1000, later: noon + 5000 };
    const found = await insights({ groups: ['requests', 'later'] }).between(noon - 1000, noon);
    expect(found).toEqual([{ payer: 'p', class: 'b', requests: 1, bytesIn: 1, bytesOut: 10 }]);
    expect(await insights({ groups: ['later'] }).between(noon - 1000, noon)).toEqual([]);
  });

  it('fails on a query that is refused for another reason', async () => {
    refusal = { status: 400, body: { __type: 'MalformedQueryException', message: 'unexpected symbol found' } };
    await expect(insights().between(noon, noon + 1)).rejects.toThrow('unexpected symbol');
  });

  it('reads large numbers however they are written', async () => {
    const results = [
      [
        ...Object.entries({
          payer: 'p',
          class: 'a',
          lines: '2',
          counts: '0',
          received: '5.497558138880E12',
          sent: '0.0',
        }),
      ].map(([field, value]) => ({ field, value })),
    ];
    instead = { status: 200, body: { status: 'Complete', results } };
    expect(await insights().between(noon, noon + 1)).toEqual([
      { payer: 'p', class: 'a', requests: 2, bytesIn: 5_497_558_138_880, bytesOut: 0 },
    ]);
  });
});
