import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventRecord } from '../../shared/events/event-record.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { startService } from '../support/programs/server.ts';
import { pacedPuts, type Latencies } from './paced-puts.ts';
import { tableHead, tableRow } from './requests/report.ts';
import { median, percentile, ratio } from './requests/statistics.ts';

/** Options of {@link benchEvents}. */
interface EventBenchOptions {
  readonly rounds: number;
  /** Of each measurement. */
  readonly seconds: number;
  /** PUT requests a second. */
  readonly rate: number;
  readonly json: boolean;
}

const size = 4096;
/** Buckets by whether a webhook is told of them. */
const buckets = { silent: 'silent', told: 'told' } as const;
type Name = keyof typeof buckets;

/**
 * How long an event takes from the commit of its change to a webhook that answers at once, and what it costs the writer: PUT of 4 KiB at a
 * steady rate, in turns, to a bucket without a configuration and to one whose changes are told. Prints a table of Markdown, or JSON.
 */
export async function benchEvents(options: EventBenchOptions): Promise<void> {
  const { rounds, seconds, rate, json } = options;
  const receiver = await Receiver.start();
  const service = await startService({ args: ['--alarm-webhook-allow', `127.0.0.1:${receiver.port}`] });
  const client = new PooledClient(service);
  const measured: Record<Name, Latencies[]> = { silent: [], told: [] };
  try {
    for (const bucket of Object.values(buckets)) await send(client, { method: 'PUT', path: `/${bucket}` });
    await tell(client, receiver);
    for (let round = 0; round < rounds; round += 1) {
      const turns: Name[] = round % 2 === 0 ? ['silent', 'told'] : ['told', 'silent'];
      for (const name of turns) {
        const load = { bucket: buckets[name], perSecond: rate, size };
        measured[name].push(await pacedPuts(client, load, sleep(seconds * 1000)));
        if (name === 'told') await receiver.hasTaken(measured.told.reduce((sum, { requests }) => sum + requests, 0));
      }
    }
  } finally {
    client.close();
    await service.stop();
    await receiver.stop();
  }
  const [silent, told] = [medians(measured.silent), medians(measured.told)];
  const { delays } = receiver;
  const arrival = { events: delays.length, p50: percentile(delays, 0.5), p99: percentile(delays, 0.99) };
  const slower = { p50: ratio(told.p50, silent.p50), p99: ratio(told.p99, silent.p99) };
  if (json) {
    console.log(JSON.stringify({ rate, size, arrival, put: { silent, told, slower } }, undefined, 2));
    return;
  }
  const row = (name: string, { p50, p99 }: Pick<Latencies, 'p50' | 'p99'>): string =>
    tableRow([name, `${p50.toFixed(1)} ms`, `${p99.toFixed(1)} ms`]);
  console.log(tableHead([`PUT of 4 KiB, ${rate} /s`, 'p50', 'p99']));
  console.log(row('without a configuration', silent));
  console.log(row('with a webhook', told));
  console.log(row(`from the commit to the webhook, ${arrival.events} events`, arrival));
}

/** A host that takes every message at once, and notes how long after its commit each event came. */
class Receiver {
  /** Milliseconds. Commits have the clock of the same machine. */
  readonly delays: number[] = [];
  readonly #server: Server;
  #notify = (): void => undefined;

  private constructor() {
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.once('end', () => {
        const now = Date.now();
        response.writeHead(204).end();
        const { Records: records = [] } = JSON.parse(body) as { readonly Records?: readonly EventRecord[] };
        for (const { eventTime } of records) this.delays.push(now - Date.parse(eventTime));
        this.#notify();
      });
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves once so many events have come. */
  async hasTaken(events: number): Promise<void> {
    while (this.delays.length < events) await new Promise<void>((resolve) => (this.#notify = resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Makes a webhook, and tells it of what happens in its bucket. */
async function tell(client: PooledClient, { port }: Receiver): Promise<void> {
  const webhook = `<Webhook><Url>http://127.0.0.1:${port}/</Url></Webhook>`;
  const text = await send(client, { method: 'PUT', path: '/', query: 'webhook&name=bench', body: webhook });
  const [, arn] = /<Arn>(.*?)<\/Arn>/.exec(text)!;
  const events = '<Event>s3:ObjectCreated:*</Event>';
  const body = `<NotificationConfiguration><QueueConfiguration><Queue>${arn}</Queue>${events}</QueueConfiguration></NotificationConfiguration>`;
  await send(client, { method: 'PUT', path: `/${buckets.told}`, query: 'notification', body });
}

/** @throws Error unless it is done */
async function send(client: PooledClient, request: Parameters<PooledClient['send']>[0]): Promise<string> {
  const { status, text } = await client.send(request);
  if (status !== 200) throw new Error(`${request.method} ${request.path}: ${status} ${text}`);
  return text;
}

function medians(all: readonly Latencies[]): Latencies {
  const requests = all.reduce((sum, one) => sum + one.requests, 0);
  return { requests, p50: median(all.map(({ p50 }) => p50)), p99: median(all.map(({ p99 }) => p99)) };
}
