// Writes docs/costs.md: `node --import tsx bin/costs-table.ts > docs/costs.md`.
import { measurePasses, type MeasuredPasses } from '../test/costs/lifecycle.ts';
import { measureAll, type Measured } from '../test/costs/measure.ts';
import { costsDocument } from '../test/costs/table.ts';

/** Returns docs/costs.md for the measured calls. */
export function costsTable(measured: readonly Measured[], passes: MeasuredPasses): string {
  return costsDocument(measured, passes);
}

if (process.argv[1] === import.meta.filename)
  process.stdout.write(costsTable(await measureAll(), await measurePasses()));
