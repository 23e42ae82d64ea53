// Writes docs/costs.md: `node --import tsx bin/costs-table.ts > docs/costs.md`.
import { measureAuditing } from '../test/costs/administration.ts';
import { measureCallers } from '../test/costs/identities.ts';
import { measurePasses } from '../test/costs/lifecycle.ts';
import { measureAll, type Measured } from '../test/costs/measure.ts';
import { measureScrub } from '../test/costs/scrub.ts';
import { costsDocument, type MeasuredBesides } from '../test/costs/table.ts';

/** Returns docs/costs.md for the measured calls. */
export function costsTable(measured: readonly Measured[], besides: MeasuredBesides): string {
  return costsDocument(measured, besides);
}

if (process.argv[1] === import.meta.filename) {
  const besides = {
    scrub: await measureScrub(),
    passes: await measurePasses(),
    callers: await measureCallers(),
    auditing: await measureAuditing(),
  };
  process.stdout.write(costsTable(await measureAll(), besides));
}
