// Writes docs/costs.md: `node --import tsx bin/costs-table.ts > docs/costs.md`.
import { measureAll, type Measured } from '../test/costs/measure.ts';
import { measureScrub, type MeasuredScrub } from '../test/costs/scrub.ts';
import { costsDocument } from '../test/costs/table.ts';

/** Returns docs/costs.md for the measured calls. */
export function costsTable(measured: readonly Measured[], scrub: MeasuredScrub): string {
  return costsDocument(measured, scrub);
}

if (process.argv[1] === import.meta.filename)
  process.stdout.write(costsTable(await measureAll(), await measureScrub()));
