// Writes docs/round-trips.md: `node --import tsx bin/round-trips-table.ts > docs/round-trips.md`. Needs PostgreSQL.
import { measureTrips, roundTripsDocument } from '../test/many-machines/round-trips.ts';

process.stdout.write(roundTripsDocument(await measureTrips()));
