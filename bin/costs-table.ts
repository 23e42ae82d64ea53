// Writes docs/costs.md: `node --import tsx bin/costs-table.ts > docs/costs.md`.
import { measureAll, type Measured } from '../test/costs/measure.ts';
import { costsDocument } from '../test/costs/table.ts';

/** Returns docs/costs.md for the measured calls. */
export function costsTable(measured: readonly Measured[]): string {
  return costsDocument(measured);
}

if (process.argv[1] === import.meta.filename) process.stdout.write(costsTable(await measureAll()));
