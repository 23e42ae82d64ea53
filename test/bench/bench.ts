import { parseArgs } from 'node:util';
import { bare, running, stillage, type Contestant } from './contestants.ts';
import { bucket, each, works, type Work } from './works.ts';

/*
 * How fast the service is, beside others: by themselves the numbers say more of the machine than of the service.
 *
 *   npm run bench                                            beside a bare node:http server that does the least a store must do
 *   npm run bench -- --only 'GET|HEAD' --rounds 7
 *   npm run bench -- --endpoint http://127.0.0.1:5000 --access-key … --secret-key … --pid …
 *                                                            beside another store as well, which runs already
 *
 * Each piece of work is done in rounds, by one server after the other in each, and the medians are shown: the rate, the processor
 * time of the server for one of them, and how the rate compares to the first one's.
 */

const { values: options } = parseArgs({
  options: {
    endpoint: { type: 'string' },
    'access-key': { type: 'string', default: 'test' },
    'secret-key': { type: 'string', default: 'test' },
    pid: { type: 'string' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
  },
});

interface Measure {
  readonly perSecond: number;
  /** Milliseconds of the server's processors, for one. */
  readonly processor: number | undefined;
}

async function measure(server: Contestant, work: Work, round: number): Promise<Measure> {
  server.reconnect();
  await work.prepare?.(server, round);
  const processorBefore = server.processorTime();
  const started = performance.now();
  await each(work.count, work.callers, (at) => work.act(server, at, round));
  const seconds = (performance.now() - started) / 1000;
  const processorAfter = server.processorTime();
  const used =
    processorBefore === undefined || processorAfter === undefined ? undefined : processorAfter - processorBefore;
  return { perSecond: work.count / seconds, processor: used && used / work.count };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

function shown(measures: readonly Measure[], { bytes }: Work): string {
  if (measures.length === 0) return '-';
  const perSecond = median(measures.map((one) => one.perSecond));
  const rate =
    bytes === undefined
      ? `${perSecond.toFixed(perSecond < 10 ? 1 : 0)} /s`
      : `${((perSecond * bytes) / 2 ** 20).toFixed(0)} MiB/s`;
  const processor = measures.map((one) => one.processor).filter((one) => one !== undefined);
  return processor.length === 0 ? rate : `${rate}, ${median(processor).toPrecision(2)} ms`;
}

function compared(own: readonly Measure[], other: readonly Measure[]): string {
  if (other.length === 0) return '';
  return (median(own.map((one) => one.perSecond)) / median(other.map((one) => one.perSecond))).toFixed(2);
}

const servers = [await stillage(), await bare()];
const { endpoint, pid } = options;
if (endpoint !== undefined) {
  const key = { accessKeyId: options['access-key'], secretAccessKey: options['secret-key'] };
  servers.push(running(endpoint, key, pid === undefined ? undefined : Number(pid)));
}
const width = 24;
try {
  for (const server of servers.filter(({ isStore }) => isStore)) await server.send({ method: 'PUT', path: bucket });
  const columns = servers.flatMap(({ name }, at) => [name.padStart(width), ...(at > 0 ? ['ratio'.padStart(7)] : [])]);
  console.log(`${''.padEnd(28)}${columns.join('')}`);
  const only = new RegExp(options.only);
  for (const work of works.filter(({ name }) => only.test(name))) {
    const measures = servers.map((): Measure[] => []);
    // The first round is not counted: the compiler has much to do in it.
    for (let round = 0; round <= Number(options.rounds); round += 1) {
      for (const [at, server] of servers.entries()) {
        if (!server.isStore && !work.isPlain) continue;
        const measured = await measure(server, work, round);
        if (round > 0) measures[at]!.push(measured);
      }
    }
    const cells = measures.map((some, at) => {
      const ratio = at === 0 ? '' : compared(measures[0]!, some).padStart(7);
      return shown(some, work).padStart(width) + ratio;
    });
    console.log(`${work.name.padEnd(28)}${cells.join('')}`);
  }
} finally {
  for (const server of servers) await server.stop();
}
