import { Connection } from './connection.ts';
import { bucketRequests, caseNamed, fillingRequests, type Case, type Filling } from './cases.ts';
import type { Address, Measurement, Order, Reply } from './generator-messages.ts';
import { usageOf } from './process-usage.ts';
import type { ScannedResponse } from './response-scanner.ts';
import { RequestSigner, type BenchRequest, type SignedRequest } from './signed-request.ts';
import { percentile } from './statistics.ts';

/*
 * A load generator in a process of its own, so that it takes no processor time of another's. It sends requests over raw sockets that it
 * signed before, and tells how much of a processor it used. Started by generator-process.ts, which sends it orders.
 */

/** Sends the next request of a case. Resolves to false when none is left. @throws Error for a response that is no success */
type Send = (connection: Connection) => Promise<boolean>;

/** The connections for everything that is not measured. */
const preparing = 32;

let isStopped = false;
/** The summary of the load beside a case, once it has ended: after the order to stop, or earlier, as cases may end. */
let load: Promise<string> = Promise.resolve('');

process.on('message', (order: Order) => {
  isStopped = order.do === 'stop';
  follow(order).then(
    (reply) => process.send!(reply),
    (error: unknown) => process.send!({ kind: 'failed', message: String(error) } satisfies Reply),
  );
});
process.on('disconnect', () => process.exit());

async function follow(order: Order): Promise<Reply> {
  if (order.do === 'stop') return { kind: 'loaded', made: await load };
  if (order.do === 'fill') {
    // Buckets of an earlier run are welcome.
    if (order.isStore) for (const request of bucketRequests) await sendAll(order.server, [request], [409]);
    await sendAll(order.server, fillingRequests(order.found, order));
    return { kind: 'done' };
  }
  const found = caseNamed(order.name);
  if (order.do === 'load') {
    load = (await started(found.beside ?? [], order)).made;
    return { kind: 'loading' };
  }
  return { kind: 'measured', measurement: await measured(found, order) };
}

/** Sends requests, in any order. @throws Error for the first that fails */
async function sendAll(
  server: Address,
  requests: readonly BenchRequest[],
  alsoFine: readonly number[] = [],
): Promise<void> {
  const { signer, url } = signerFor(server);
  const left = requests.values();
  const caller = async (): Promise<void> => {
    const connection = new Connection(url);
    try {
      for (const request of left) {
        const response = await connection.exchange(signer.sign({ ...request, keepsBody: true }));
        if (!alsoFine.includes(response.status)) checkStatus(response, request);
      }
    } finally {
      connection.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(preparing, requests.length) }, caller));
}

async function measured(measuring: Case, order: Extract<Order, { do: 'measure' }>): Promise<Measurement> {
  const { server, round, pids, seconds, warmUp, requests: limit } = order;
  if (measuring.prepare) await sendAll(server, measuring.prepare(round));
  const send = senderOf(measuring, order);
  const connections = Array.from({ length: measuring.connections }, () => new Connection(new URL(server.url)));
  try {
    // The case that ends with its last request is too short for it.
    const isWarmedUp = warmUp > 0 && measuring.isOnce !== true && limit === undefined;
    if (isWarmedUp) await run(connections, send, { until: performance.now() + 1000 * warmUp, most: Infinity });
    const [used, own] = [usageOf(pids), process.cpuUsage()];
    const started = performance.now();
    const bound = { until: limit === undefined ? started + 1000 * seconds : Infinity, most: limit ?? Infinity };
    const { times, errors, firstError, ended } = await run(connections, send, bound);
    const [usedAfter, ownAfter] = [usageOf(pids), process.cpuUsage(own)];
    const whole = performance.now() - started;
    return {
      requests: times.length,
      errors,
      ...(firstError !== undefined && { firstError }),
      seconds: Math.max(ended - started, 0.001) / 1000,
      ...(times.length > 0 && {
        p50: percentile(times, 0.5),
        p99: percentile(times, 0.99),
        longest: times.reduce((most, time) => Math.max(most, time)),
      }),
      ...(used && usedAfter && { processor: usedAfter.processor - used.processor, memory: usedAfter.memory }),
      generatorShare: (ownAfter.user + ownAfter.system) / 1000 / whole,
    };
  } finally {
    for (const connection of connections) connection.close();
  }
}

interface Outcome {
  /** Milliseconds of each request that succeeded. */
  readonly times: number[];
  errors: number;
  firstError?: string;
  /** When the last one succeeded. */
  ended: number;
}

/** Sends requests on all connections, up to a time or number. */
async function run(
  connections: readonly Connection[],
  send: Send,
  { until, most }: { readonly until: number; readonly most: number },
): Promise<Outcome> {
  const outcome: Outcome = { times: [], errors: 0, ended: performance.now() };
  let begun = 0;
  const caller = async (connection: Connection): Promise<void> => {
    for (;;) {
      const sent = performance.now();
      if (sent >= until || begun === most) return;
      begun += 1;
      try {
        if (!(await send(connection))) return;
        outcome.ended = performance.now();
        outcome.times.push(outcome.ended - sent);
      } catch (error) {
        outcome.errors += 1;
        outcome.firstError ??= String(error);
        connection.close();
        if (outcome.errors > 100) return;
      }
    }
  };
  await Promise.all(connections.map(caller));
  return outcome;
}

/** Starts cases concurrently, until the order to stop. Returns a promise of their summary. */
async function started(
  beside: readonly Case[],
  order: Extract<Order, { do: 'load' }>,
): Promise<{ readonly made: Promise<string> }> {
  const { server, round } = order;
  for (const { prepare } of beside) if (prepare) await sendAll(server, prepare(round));
  const running = beside.map(async (one) => {
    const send = senderOf(one, order);
    let count = 0;
    const caller = async (): Promise<void> => {
      const connection = new Connection(new URL(server.url));
      while (!isStopped) {
        // A service under load may refuse some.
        const isSent = await send(connection).catch(() => undefined);
        if (isSent === false) break;
        if (isSent === true) count += 1;
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: one.connections }, caller));
    return `${count} ${one.name}`;
  });
  return { made: Promise.all(running).then((made) => made.join(', ')) };
}

function senderOf(
  { name, count, isOnce, request, flow, expectedBytes }: Case,
  { server, round, keys }: { readonly server: Address; readonly round: number } & Filling,
): Send {
  const { signer } = signerFor(server);
  let next = 0;
  if (flow) {
    return async (connection) => {
      const exchange = async (one: BenchRequest): Promise<ScannedResponse> => {
        const response = await connection.exchange(signer.sign(one));
        checkStatus(response, one);
        return response;
      };
      await flow(exchange, round, next++);
      return true;
    };
  }
  if (request === undefined) throw new Error(`the case ${name} sends nothing`);
  const signed: SignedRequest[] = [];
  for (let index = 0; index < count; index += 1) signed.push(signer.sign(request(index, round, { keys })));
  return async (connection) => {
    if (isOnce === true && next >= count) return false;
    const index = next++ % count;
    const response = await connection.exchange(signed[index]!);
    if (response.status >= 300) checkStatus(response, request(index, round, { keys }));
    if (expectedBytes !== undefined && response.bytes !== expectedBytes)
      throw new Error(`${name}: ${response.bytes} bytes instead of ${expectedBytes}`);
    return true;
  };
}

function signerFor({ url: text, key }: Address): { readonly signer: RequestSigner; readonly url: URL } {
  const url = new URL(text);
  return { url, signer: new RequestSigner(url.host, key) };
}

function checkStatus({ status, text }: ScannedResponse, { method, path, query }: BenchRequest): void {
  if (status < 300) return;
  throw new Error(`${method} ${path}${query === undefined ? '' : `?${query}`}: ${status} ${text.slice(0, 300)}`);
}
