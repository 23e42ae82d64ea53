// Writes docs/costs.md: `node --import tsx bin/costs-table.ts > docs/costs.md`.
import { measureCallers, type MeasuredCaller } from '../test/costs/identities.ts';
import { measurePasses, type MeasuredPasses } from '../test/costs/lifecycle.ts';
import { measureAll, type Measured } from '../test/costs/measure.ts';
import { measureScrub, type MeasuredScrub } from '../test/costs/scrub.ts';
import { costsDocument } from '../test/costs/table.ts';

/** Returns docs/costs.md for the measured calls. */
export function costsTable(
  measured: readonly Measured[],
  besides: {
    readonly scrub: MeasuredScrub;
    readonly passes: MeasuredPasses;
    readonly callers: readonly MeasuredCaller[];
  },
): string {
  return costsDocument(measured, besides);
}

if (process.argv[1] === import.meta.filename) {
  const besides = { scrub: await measureScrub(), passes: await measurePasses(), callers: await measureCallers() };
  process.stdout.write(costsTable(await measureAll(), besides));
}
