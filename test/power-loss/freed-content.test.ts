import { describe, expect, it } from 'vitest';
import { findLosses, type Cut } from './cuts.ts';
import { told } from './expect-whole.ts';
import { record, type Recording } from './recording.ts';
import { seeds, setUp } from './set-up.ts';
import { storingAndFreeing } from './workload.ts';

const requests = 400;
/** The commits after the removal of a file at which a cut may find its content partly freed. */
const commitsOfRemoval = 2;

const tools = setUp();

/**
 * A power failure may bring back files that were just removed, while what was removed from the table stays removed: their checksums, and
 * some of the items of their content. A scrub must take none of that for damage, even before the service has started again.
 */
describe.each([1, 2])('a service of %i processes whose power fails while it frees content', (processes) => {
  it.each(seeds)('leaves nothing that looks damaged, with the seed %i', { timeout: 3_600_000 }, async (seed) => {
    const recording = await record(tools.library, { seed, requests, processes, mix: storingAndFreeing });
    const cuts = duringRemovals(recording);
    expect(cuts).not.toEqual([]);
    const losses = await findLosses(recording, cuts, tools.inspector, { isScrubbedFirst: true });
    expect(losses.length > 0 ? `${told(losses)}\nkept: ${recording.root}` : '').toBe('');
    await recording.remove();
    console.log(`seed ${seed}, ${processes} processes: ${cuts.length} cuts while content was freed`);
  });
});

/** Returns cuts after the commits that follow the removal of a file. Nothing is left of what was not synced, such as the removal. */
function duringRemovals({ events }: Recording): Cut[] {
  const writes = new Set<string>();
  let left = 0;
  return events.flatMap((event, index): readonly Cut[] => {
    if (event.type === 'unlink') left = commitsOfRemoval;
    // A commit ends with a synchronous write, of a meta page.
    if (event.type === 'write' && event.isSynchronous) writes.add(event.call);
    if (event.type !== 'end' || !writes.has(event.call) || left === 0) return [];
    left -= 1;
    return [{ at: index + 1, severity: 'nothing', seed: index }];
  });
}
