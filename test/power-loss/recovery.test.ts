import { describe, expect, it } from 'vitest';
import { Random } from '../linearizability/random.ts';
import { boundaries, findLosses, severities, type Cut } from './cuts.ts';
import type { Sync } from './disk.ts';
import { expectWhole, told } from './expect-whole.ts';
import { record, type Recording } from './recording.ts';
import { recordRecovery, type Recovery } from './recovery.ts';
import { firstSeed, isLong, requests, seeds, setUp } from './set-up.ts';

/** The starts of each run that are cut, and the cuts of each of them. */
const recoveriesOfRun = isLong ? 8 : 3;
const cutsOfRecovery = isLong ? 50 : 12;

const tools = setUp();

/** Returns the {@link boundaries} in the record of a start. */
function placesOf({ events, beginning }: Recovery): number[] {
  return boundaries(events).filter((at) => at > beginning);
}

/** Acknowledged writes are there after the power failed, and failed again while the service started. */
describe.each([1, 2])('a service of %i processes whose power fails twice', (processes) => {
  it.each(seeds)('has everything that it acknowledged, with the seed %i', { timeout: 3_600_000 }, async (seed) => {
    const first = await record(tools.library, { seed, requests, processes });
    const random = new Random(seed);
    const firstPlaces = boundaries(first.events);
    let syncs = 0;
    for (let index = 0; index < recoveriesOfRun; index += 1) {
      const cut = { at: random.oneOf(firstPlaces), severity: random.oneOf(severities), seed: seed * 2003 + index };
      const recovery = await recordRecovery(tools.library, { first, cut, processes });
      await expectWhole(recovery);
      const places = placesOf(recovery);
      syncs += places.length;
      const cuts = Array.from({ length: cutsOfRecovery }, (_, number): Cut => {
        const severity = severities[number % severities.length]!;
        return { at: random.oneOf(places), severity, seed: cut.seed * 1009 + number };
      });
      await expectNoLoss(recovery, cuts);
      await recovery.remove();
    }
    await first.remove();
    expect(syncs).toBeGreaterThan(0);
    const made = recoveriesOfRun * cutsOfRecovery;
    console.log(`seed ${seed}, ${processes} processes: ${made} cuts of starts, of ${syncs} places`);
  });
});

/** Expects that no cut loses anything. The directory of a start that fails stays. */
async function expectNoLoss(recovery: Recording, cuts: readonly Cut[]): Promise<void> {
  const losses = await findLosses(recovery, cuts, tools.inspector);
  expect(losses.length > 0 ? `${told(losses)}\nkept: ${recovery.root}` : '').toBe('');
}

describe('a sync of the table that is left out while the service starts', () => {
  it('is found', { timeout: 600_000 }, async () => {
    const first = await record(tools.library, { seed: firstSeed, requests, processes: 1 });
    const cut = { at: boundaries(first.events).at(-1)!, severity: 'nothing' as const, seed: firstSeed };
    const recovery = await recordRecovery(tools.library, { first, cut, processes: 1 });
    const cuts = placesOf(recovery).map((at, index) => ({ at, severity: 'nothing' as const, seed: index }));
    // The first sync is of the data that the power failure left.
    let synced = 0;
    const ignores = ({ how, path }: Sync): boolean => how === 'sync' && path.endsWith('/data.mdb') && (synced += 1) > 1;
    expect(await findLosses(recovery, cuts, tools.inspector, { ignores })).not.toEqual([]);
    expect(synced).toBeGreaterThan(1);
    await Promise.all([first.remove(), recovery.remove()]);
  });
});
