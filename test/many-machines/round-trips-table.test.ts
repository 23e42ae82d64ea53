import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { measureTrips, roundTripsDocument } from './round-trips.ts';

it('the round trips are those in docs/round-trips.md: node --import tsx bin/round-trips-table.ts > docs/round-trips.md', async () => {
  const written = await readFile(join(import.meta.dirname, '../../docs/round-trips.md'), 'utf8');
  expect(written).toBe(roundTripsDocument(await measureTrips()));
}, 1_800_000);
