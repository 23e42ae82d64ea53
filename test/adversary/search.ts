import { Random } from '../linearizability/random.ts';
import { attackOf, bytesOf, mayWrite, neighbourOf, requestsOf, wordsOf, type Attack } from './attacks.ts';
import { Excess, excessesOf } from './bounds.ts';
import { carryOut } from './carry-out.ts';
import { costOf, WorksForNobody, type Cost } from './measures.ts';
import type { AttackedService } from './victim.ts';

/** An attack, what it sent, and what that cost. */
export interface Outcome {
  readonly attack: Attack;
  readonly requests: number;
  /** Bytes that the service took, and that it gave. */
  readonly sent: number;
  readonly received: number;
  readonly cost: Cost;
}

const measures = ['memory', 'processor', 'disk', 'log', 'health'] as const satisfies readonly (keyof Cost)[];

/** What a search found. */
export interface Found {
  /** The worst outcome of each measure. */
  readonly worst: Readonly<Record<keyof Cost, Outcome>>;
  /** Milliseconds of processor time that a small request takes on this machine. */
  readonly honest: number;
}

/** What a search does. */
export interface Plan {
  readonly seed: number;
  readonly attacks: number;
  /** Which attacks it may choose. */
  readonly may: (attack: Attack) => boolean;
}

/**
 * Looks for the attacks that cost most of each measure: first at random, then among those that resemble the worst so far.
 * @throws Excess at the first that costs more than is documented
 */
export async function search(victim: AttackedService, { seed, attacks, may }: Plan): Promise<Found> {
  const random = new Random(seed);
  const honest = await smallRequest(victim);
  const worst: Partial<Record<keyof Cost, Outcome>> = {};
  for (let at = 0; at < attacks; at += 1) {
    const known = at < attacks / 2 ? [] : Object.values(worst);
    const next = (): Attack =>
      known.length === 0 ? attackOf(random) : neighbourOf(random.oneOf(known).attack, random);
    let attack = next();
    while (!may(attack)) attack = next();
    const outcome = await outcomeOf(victim, attack).catch((error: unknown) => {
      if (error instanceof WorksForNobody) throw new Excess([error.message], seed, wordsOf(attack));
      throw new Error(`seed ${seed}: ${wordsOf(attack)}: ${String(error)}`, { cause: error });
    });
    const excesses = excessesOf(outcome, honest);
    if (excesses.length > 0) throw new Excess(excesses, seed, lineOf(outcome));
    for (const measure of measures) {
      if (outcome.cost[measure] > (worst[measure]?.cost[measure] ?? -1)) worst[measure] = outcome;
    }
  }
  return { worst: worst as Found['worst'], honest };
}

/** Returns the processor time of a request that is refused, after others have warmed the service up. */
async function smallRequest(victim: AttackedService): Promise<number> {
  const route = { on: 'bucket', method: 'HEAD', operation: 'HeadBucket' } as const;
  const how = { caller: 'anonymous', target: 'private', framing: 'nothing', leaving: 'reads all' } as const;
  const attack = { ...how, route, connections: 1, pipelined: 1000 };
  await outcomeOf(victim, attack);
  const { cost, requests } = await outcomeOf(victim, attack);
  return cost.processor / requests;
}

/** Carries out an attack, and measures it. */
async function outcomeOf(victim: AttackedService, attack: Attack): Promise<Outcome> {
  if (mayWrite(attack)) await victim.restore();
  const bytes = bytesOf(attack, victim);
  let exchanged = { sent: 0, received: 0 };
  const cost = await costOf(victim.service, async () => {
    exchanged = await carryOut(attack, victim.portOf(attack.route.on), bytes);
  });
  return { attack, requests: requestsOf(attack, victim), ...exchanged, cost };
}

/** Describes an outcome in a line. */
export function lineOf({ attack, requests, sent, received, cost }: Outcome): string {
  const MiB = 1024 * 1024;
  const costs = [
    `${(cost.memory / MiB).toFixed(1)} MiB of memory`,
    `${Math.round(cost.processor)} ms of processor`,
    `${cost.disk} bytes of disk`,
    `${cost.log} bytes of log`,
    `${Math.round(cost.health)} ms before health`,
  ];
  return `${wordsOf(attack)}; ${requests} requests in ${sent} bytes, ${received} bytes received: ${costs.join(', ')}`;
}
