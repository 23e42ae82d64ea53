import { foundBy, type Case } from './cases.ts';
import type { Measurement } from './generator-messages.ts';
import { GeneratorProcess } from './generator-process.ts';
import type { BenchServer } from './servers.ts';
import { median, medianOfKnown } from './statistics.ts';

/** How cases are measured. */
export interface MeasuringOptions {
  readonly rounds: number;
  /** Of each measurement. */
  readonly seconds: number;
  /** The number of requests in each measurement, instead of `seconds`; then nothing is warmed up. */
  readonly requests?: number;
  /** Keys in the bucket that is listed. */
  readonly keys: number;
}

/** Medians of the rounds of one case on one server. */
export interface Result {
  readonly case: string;
  readonly server: string;
  /** Requests that succeeded, in all rounds. */
  readonly requests: number;
  readonly errors: number;
  readonly firstError: string | null;
  readonly perSecond: number;
  readonly bytesPerSecond: number | null;
  /** Milliseconds. */
  readonly p50: number | null;
  readonly p99: number | null;
  readonly longest: number | null;
  /** Microseconds of the server's processors for one request. */
  readonly processorMicroseconds: number | null;
  /** Bytes of the server's memory after the last round, without mapped files. */
  readonly memory: number | null;
  /** The share of a processor that the load generator used. */
  readonly generatorShare: number;
  /** The load beside the case, in the last round. */
  readonly beside: string | null;
}

/** The share of `seconds` that a server is warmed up for, in each round. */
const warmUpShare = 0.25;

/**
 * Measures cases in rounds, in each of which the servers take turns, so that all of them are affected by the same disturbances: the first of
 * one round is the last of the next, as whoever comes later finds a warmer machine, or a fuller disk. Before the first round everything runs once
 * for a moment.
 * @returns for each case, the result of each server; undefined where the server does not support the case
 */
export async function* measureCases(
  servers: readonly BenchServer[],
  cases: readonly Case[],
  options: MeasuringOptions,
): AsyncGenerator<{ readonly case: Case; readonly results: readonly (Result | undefined)[] }> {
  const { keys } = options;
  const generator = new GeneratorProcess();
  const loader = new GeneratorProcess();
  try {
    for (const server of servers) {
      for (const { address, isStore } of [server, ...(server.secure ? [server.secure] : [])]) {
        const known = cases.filter((one) => isMeasured(server, one) && targetOf(server, one)?.address === address);
        await generator.fill({ server: address, isStore, found: foundBy(known), keys });
      }
    }
    for (const one of cases) {
      const measurements = servers.map((): Measurement[] => []);
      let beside: string | null = null;
      for (let round = options.requests === undefined ? 0 : 1; round <= options.rounds; round += 1) {
        const turns = [...servers.entries()];
        for (const [at, server] of round % 2 === 0 ? turns.toReversed() : turns) {
          const target = targetOf(server, one);
          if (target === undefined || !isMeasured(server, one)) continue;
          const stop = one.beside && (await loader.load({ server: target.address, name: one.name, round, keys }));
          const measurement = await measure(generator, target, one, round, options);
          if (stop) beside = await stop();
          if (round > 0) measurements[at]!.push(measurement);
        }
      }
      const results = servers.map(({ name }, at) =>
        measurements[at]!.length === 0 ? undefined : resultOf(one, name, measurements[at]!, beside),
      );
      yield { case: one, results };
    }
  } finally {
    generator.stop();
    loader.stop();
  }
}

/** Returns the server as a case reaches it. */
function targetOf(server: BenchServer, { isSecure }: Case): BenchServer | undefined {
  return isSecure === true ? server.secure : server;
}

function isMeasured({ isStore }: BenchServer, { isPlain }: Case): boolean {
  return isStore || isPlain === true;
}

function measure(
  generator: GeneratorProcess,
  { address, pids }: BenchServer,
  { name }: Case,
  round: number,
  { seconds, requests, keys }: MeasuringOptions,
): Promise<Measurement> {
  const isFirst = round === 0;
  return generator.measure({
    server: address,
    name,
    round,
    seconds: isFirst ? seconds / 2 : seconds,
    warmUp: requests === undefined && !isFirst ? seconds * warmUpShare : 0,
    ...(requests !== undefined && { requests }),
    keys,
    pids,
  });
}

/** Returns the medians of measurements of one case on one server. */
export function resultOf(
  { name, bytes }: Pick<Case, 'name' | 'bytes'>,
  server: string,
  all: readonly Measurement[],
  beside: string | null,
): Result {
  const perSecond = median(all.map(({ requests, seconds }) => requests / seconds));
  const used = all.map(({ processor, requests }) =>
    processor === undefined || requests === 0 ? undefined : (1000 * processor) / requests,
  );
  return {
    case: name,
    server,
    requests: all.reduce((sum, { requests }) => sum + requests, 0),
    errors: all.reduce((sum, { errors }) => sum + errors, 0),
    firstError: all.find(({ firstError }) => firstError !== undefined)?.firstError ?? null,
    perSecond,
    bytesPerSecond: bytes === undefined ? null : perSecond * bytes,
    p50: medianOfKnown(all.map(({ p50 }) => p50)) ?? null,
    p99: medianOfKnown(all.map(({ p99 }) => p99)) ?? null,
    longest: medianOfKnown(all.map(({ longest }) => longest)) ?? null,
    processorMicroseconds: medianOfKnown(used) ?? null,
    memory: all.at(-1)?.memory ?? null,
    generatorShare: median(all.map(({ generatorShare }) => generatorShare)),
    beside,
  };
}
