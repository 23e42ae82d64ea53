// Writes docs/costs.md: `node --import tsx bin/costs-table.ts > docs/costs.md`.
import { measurePasses, type MeasuredPasses } from '../test/costs/lifecycle.ts';
import { measureAll, type Measured } from '../test/costs/measure.ts';
import { measureScrub, type MeasuredScrub } from '../test/costs/scrub.ts';
import { costsDocument } from '../test/costs/table.ts';

/** Returns docs/costs.md for the measured calls. */
export function costsTable(
  measured: readonly Measured[],
  background: { readonly scrub: MeasuredScrub; readonly passes: MeasuredPasses },
): string {
  return costsDocument(measured, background);
}

if (process.argv[1] === import.meta.filename)
  process.stdout.write(costsTable(await measureAll(), { scrub: await measureScrub(), passes: await measurePasses() }));
