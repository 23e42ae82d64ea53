import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { environment, isInstalled, run, skip } from '../support/programs/programs.ts';
import { runProgram } from '../support/programs/program.ts';
import { exchange } from '../support/clients/raw-client.ts';
import { freePort } from '../support/runs/free-port.ts';
import { untilFound } from '../support/runs/eventually.ts';
import { startService, type Service } from '../support/programs/server.ts';
import { workersOf } from '../support/programs/worker-processes.ts';

const recipes = join(import.meta.dirname, '../../docs/recipes');
const token = 'a token of the tests'.replaceAll(' ', '-');
let folder: string;
let tokenFile: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
  tokenFile = join(folder, 'token');
  await writeFile(tokenFile, `${token}\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The samples of a scrape by their series: `stillage_buckets`, `stillage_requests_total{operation="GetObject",status="2xx"}`. */
function samplesOf(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))] as const;
    }),
  );
}

async function scrape(url: string): Promise<string> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return response.text();
}

const requests = (operation: string, status: string): string =>
  `stillage_requests_total{operation="${operation}",status="${status}"}`;

describe.each([1, 2])('metrics of %i workers', (workers) => {
  let service: Service;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    const metrics = ['--metrics-port', String(port), '--metrics-token-file', tokenFile, '--metrics-buckets'];
    service = await startService({ args: ['--workers', String(workers), ...metrics] });
  });
  afterAll(() => service.stop());
  const ownListener = (): string => `http://127.0.0.1:${port}/metrics`;

  it('count every request, whichever process has answered it', async () => {
    const client = new PooledClient(service, undefined, 8);
    await client.send({ method: 'PUT', path: '/photos' });
    const put = (n: number) => client.send({ method: 'PUT', path: `/photos/${n}`, body: 'x'.repeat(1000) });
    await Promise.all(Array.from({ length: 40 }, (_, n) => put(n)));
    await Promise.all(Array.from({ length: 30 }, (_, n) => client.send({ path: `/photos/${n}` })));
    await Promise.all(Array.from({ length: 20 }, () => client.send({ path: '/photos/missing' })));
    await scrape(ownListener());
    await client.send({ path: '/photos/0' });
    const samples = samplesOf(await scrape(ownListener()));
    expect(samples.get(requests('PutObject', '2xx'))).toBe(40);
    expect(samples.get(requests('GetObject', '2xx'))).toBe(31);
    expect(samples.get(requests('GetObject', '4xx'))).toBe(20);
    expect(samples.get('stillage_received_bytes_total{operation="PutObject"}')).toBe(40_000);
    expect(samples.get('stillage_request_duration_seconds_count{operation="GetObject"}')).toBe(51);
    expect(samples.get('stillage_request_duration_seconds_bucket{operation="GetObject",le="+Inf"}')).toBe(51);
    const open = [...samples].filter(([name]) => name.startsWith('stillage_open_connections'));
    expect(open).toHaveLength(workers);
    expect(open.reduce((sum, [, value]) => sum + value, 0)).toBeGreaterThanOrEqual(1);
    client.close();
  });

  it('tell what is stored, in all and of each bucket', async () => {
    const client = new PooledClient(service, undefined, 1);
    // HeadBucket counts the rest of the feed first.
    await client.send({ method: 'HEAD', path: '/photos' });
    let samples = samplesOf(await scrape(ownListener()));
    // Counters are not read again at once.
    for (let looks = 0; looks < 100 && samples.get('stillage_stored_bytes') !== 40_000; looks += 1) {
      await sleep(20);
      samples = samplesOf(await scrape(ownListener()));
    }
    expect(samples.get('stillage_buckets')).toBe(1);
    expect(samples.get('stillage_stored_bytes')).toBe(40_000);
    expect(samples.get('stillage_bucket_objects{bucket="photos"}')).toBe(40);
    expect(samples.get('stillage_feed_records')).toBe(0);
    expect(samples.get('stillage_release_lag_seconds')).toBe(0);
    expect(samples.get('stillage_scrub_damaged_blobs')).toBe(0);
    for (const name of ['stillage_table_bytes', 'stillage_filesystem_free_bytes', 'stillage_filesystem_size_bytes']) {
      expect(samples.get(name)).toBeGreaterThan(4096);
    }
    client.close();
  });

  it('are also at a path of the service, for those who have the token', async () => {
    const url = `${service.url}/_stillage/metrics`;
    expect(samplesOf(await scrape(url)).get('stillage_buckets')).toBe(1);
    const wrong = ['Bearer', 'Bearer x', `Bearer ${token}x`, `Basic ${token}`, token, `Bearer ${token} x`];
    for (const authorization of wrong) {
      const { status, headers } = await fetch(url, { headers: { authorization } });
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="metrics"']);
    }
    expect((await fetch(url)).status).toBe(401);
    // With virtual hosts, every path is a key of the bucket, except for the reserved ones.
    for (const path of ['/_stillage/metrics/', '/_stillage/metrics2', '//_stillage/metrics']) {
      expect((await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(
        400,
      );
    }
  });

  it('are shown to no page of a stranger in a browser of the same machine', async () => {
    const listener = `http://127.0.0.1:${port}`;
    const ask = (host: string, method = 'GET', target = '/metrics') =>
      exchange(listener, { method, target, headers: [['host', host]] });
    expect((await ask('rebound.example:9002')).status).toBe(421);
    expect((await ask(`localhost:${port}`)).status).toBe(200);
    expect((await ask(`127.0.0.1:${port}`, 'POST')).status).toBe(405);
    expect((await ask(`127.0.0.1:${port}`, 'GET', '/')).status).toBe(404);
  });

  it('are what promtool takes for well-formed, with names by the conventions', async (context) => {
    if (!isInstalled('promtool')) return skip(context, 'promtool is not installed: apt-get install prometheus');
    const { stdout, stderr } = await run('promtool', ['check', 'metrics'], { input: await scrape(ownListener()) });
    expect(stdout + stderr).toBe('');
  });
});

describe('metrics', () => {
  it('lose none of what a scrape has told when a worker dies', async () => {
    const port = await freePort();
    const service = await startService({ args: ['--workers', '2', '--metrics-port', String(port)] });
    const url = `http://127.0.0.1:${port}/metrics`;
    const client = new PooledClient(service, undefined, 4);
    await Promise.all(Array.from({ length: 40 }, () => client.send({ path: '/' })));
    client.close();
    expect(samplesOf(await scrape(url)).get(requests('ListBuckets', '2xx'))).toBe(40);
    process.kill((await workersOf(service))[0]!, 'SIGKILL');
    let samples = samplesOf(await scrape(url));
    for (let looks = 0; looks < 100 && samples.get('stillage_worker_deaths_total') === 0; looks += 1) {
      await sleep(50);
      samples = samplesOf(await scrape(url));
    }
    expect(samples.get('stillage_worker_deaths_total')).toBe(1);
    expect(samples.get(requests('ListBuckets', '2xx'))).toBe(40);
    await service.stop();
  });

  it('are not there unless somebody has asked for them', async () => {
    const service = await startService();
    expect((await fetch(`${service.url}/_stillage/metrics`)).status).toBe(400);
    expect(service.output.stderr).not.toContain('etrics');
    await service.stop();
  });

  it('need a token that is one', async () => {
    const start = async (file: string): Promise<string> => {
      const args = ['start', '--port', '0', '--ephemeral', '--metrics-token-file', file];
      const { code, stderr } = await runProgram(args);
      expect(code).toBe(1);
      return stderr;
    };
    expect(await start(join(folder, 'none'))).toMatch(/^stillage: --metrics-token-file: cannot read [^\n]*\n$/);
    await writeFile(join(folder, 'short'), 'short\n');
    expect(await start(join(folder, 'short'))).toMatch(/^stillage: [^\n]* at least 16 characters [^\n]*\n$/);
  });

  it('end the program in one line if their port is taken', async () => {
    const other = await startService();
    const { code, stderr } = await runProgram([
      'start',
      '--port',
      '0',
      '--ephemeral',
      '--metrics-port',
      String(other.port),
    ]);
    expect([code, stderr]).toEqual([
      1,
      `stillage: port ${other.port} is taken; choose another one with --metrics-port\n`,
    ]);
    await other.stop();
  });
});

describe('the recipes for Prometheus and Grafana', () => {
  interface Dashboard {
    readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
  }
  /** The queries of the dashboard and of the alerts, as Grafana would send them. */
  async function queries(): Promise<readonly string[]> {
    const dashboard = JSON.parse(await readFile(join(recipes, 'grafana-dashboard.json'), 'utf8')) as Dashboard;
    const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const alerts = await readFile(join(recipes, 'alerts.yml'), 'utf8');
    const alerting = [...alerts.matchAll(/expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/g)].map(
      (match) => (match[1] ?? match[2])!,
    );
    expect(alerting.length).toBeGreaterThan(5);
    return [...shown, ...alerting].map((expr) =>
      expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', 'stillage').replaceAll('$instance', '.*'),
    );
  }

  it('ask for metrics that there are, with their labels', async () => {
    const port = await freePort();
    const service = await startService({
      args: ['--workers', '2', '--metrics-port', String(port), '--metrics-buckets'],
    });
    const client = new PooledClient(service, undefined, 1);
    await client.send({ method: 'PUT', path: '/photos' });
    client.close();
    const text = await scrape(`http://127.0.0.1:${port}/metrics`);
    await service.stop();
    const names = new Set([...samplesOf(text).keys()].map((series) => series.replace(/\{.*/, '')));
    const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map((match) => match[1]!));
    for (const query of await queries()) {
      const asked = [...query.matchAll(/stillage_\w+/g)].map(([name]) => name);
      expect(
        asked.filter((name) => !names.has(name)),
        query,
      ).toEqual([]);
      const grouped = [...query.matchAll(/by \(([^)]*)\)/g)].flatMap((match) =>
        match[1]!.split(',').map((one) => one.trim()),
      );
      const own = grouped.filter((label) => label !== 'instance');
      expect(
        own.filter((label) => !labels.has(label)),
        query,
      ).toEqual([]);
    }
  });

  it('are accepted by promtool', async (context) => {
    if (!isInstalled('promtool')) return skip(context, 'promtool is not installed: apt-get install prometheus');
    await run('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', join(recipes, 'alerts.yml')]);
    await run('promtool', ['check', 'config', join(recipes, 'prometheus.yml')]);
  });

  describe('with Prometheus itself', () => {
    let server: ChildProcess | undefined;
    let service: Service | undefined;
    let api: string;
    beforeEach((context) => {
      if (!isInstalled('prometheus')) skip(context, 'Prometheus is not installed: apt-get install prometheus');
    });
    afterAll(async () => {
      if (server) {
        const ended = new Promise((resolve) => server!.once('exit', resolve));
        server.kill();
        await ended;
      }
      await service?.stop();
    });

    it('every query of the dashboard and of the alerts is answered', async () => {
      const [metricsPort, port] = [await freePort(), await freePort()];
      service = await startService({ args: ['--metrics-port', String(metricsPort), '--metrics-buckets'] });
      const given = await readFile(join(recipes, 'prometheus.yml'), 'utf8');
      const config = given.replace('127.0.0.1:9002', `127.0.0.1:${metricsPort}`).replace('15s', '200ms');
      await writeFile(join(folder, 'prometheus.yml'), config);
      await writeFile(join(folder, 'alerts.yml'), await readFile(join(recipes, 'alerts.yml')));
      const args = [`--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${join(folder, 'tsdb')}`];
      api = `http://127.0.0.1:${port}/api/v1`;
      server = spawn('prometheus', [...args, `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'], {
        env: environment(),
        stdio: 'ignore',
      });
      const client = new PooledClient(service, undefined, 1);
      await client.send({ method: 'PUT', path: '/photos' });
      const ask = async (query: string): Promise<readonly { readonly value: readonly [number, string] }[]> => {
        const response = await fetch(`${api}/query?query=${encodeURIComponent(query)}`);
        const { status, data, error } = (await response.json()) as {
          readonly status: string;
          readonly error?: string;
          readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
        };
        expect(status, `${query}: ${error}`).toBe('success');
        return data.result;
      };
      const rate = 'sum(rate(stillage_requests_total[1m]))';
      // Until it listens, is ready, and has scraped twice.
      await untilFound(async () => {
        await client.send({ path: '/photos' });
        const isReady = await fetch(api.replace('/api/v1', '/-/ready')).then(
          ({ ok }) => ok,
          () => false,
        );
        return isReady && Number((await ask(rate))[0]?.value[1] ?? 0) > 0;
      });
      client.close();
      const dashboard = (await queries()).filter((query) => query.includes('instance=~'));
      expect(dashboard.length).toBeGreaterThan(15);
      for (const query of dashboard) expect((await ask(query)).length, query).toBeGreaterThan(0);
      for (const query of await queries()) await ask(query);
      const response = await fetch(`${api}/rules`);
      const { data } = (await response.json()) as {
        readonly data: { readonly groups: readonly { readonly rules: readonly { readonly health: string }[] }[] };
      };
      expect(data.groups.flatMap(({ rules }) => rules).every(({ health }) => health !== 'err')).toBe(true);
    });
  });
});
