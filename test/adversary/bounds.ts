import { mayWrite, type Attack } from './attacks.ts';
import type { Outcome } from './search.ts';
import { copiedBytes, places } from './victim.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * What is documented in docs/limits.md: each bound is several times the worst that was found.
 * @param honest milliseconds of processor time that a small request takes on this machine
 * @returns what an attack has exceeded
 */
export function excessesOf({ attack, requests, sent, received, cost }: Outcome, honest: number): string[] {
  const bytes = received + Math.max(0, cost.disk);
  // Each connection has one request in progress that nobody may wait for any more.
  const small = 5 * requests + (40 * sent) / KiB + (500 * bytes) / MiB + 1000 * attack.connections;
  const allowed = {
    // Bodies and documents in progress, and what was not collected yet.
    memory: (2 * places + 64) * MiB,
    processor: honest * small,
    disk: mayWrite(attack) ? 2 * (sent + requests * (isCopy(attack) ? copiedBytes : 64 * KiB)) + 16 * MiB : 64 * KiB,
    log: KiB * requests + 4 * sent + 64 * KiB,
    health: honest * 10_000,
  };
  return Object.entries(allowed)
    .filter(([measure, bound]) => cost[measure as keyof typeof cost] > bound)
    .map(([measure, bound]) => `more than ${Math.round(bound)} of ${measure}`);
}

/** An attack exceeded bounds. */
export class Excess extends Error {
  constructor(excesses: readonly string[], seed: number, line: string) {
    super(`${excesses.join(', ')}, seed ${seed}: ${line}`);
  }
}

function isCopy({ route }: Attack): boolean {
  return 'operation' in route && route.header === 'x-amz-copy-source';
}
