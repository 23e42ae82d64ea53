import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { budget, measureTrips, roundTripsDocument, type MeasuredTripsOfAll } from './round-trips.ts';

let measured: MeasuredTripsOfAll;
beforeAll(async () => {
  measured = await measureTrips();
}, 600_000);

const tripsOf = (operation: string, variant?: string): number =>
  measured.operations.find(({ scenario }) => scenario.operation === operation && scenario.variant === variant)!.trips;

describe('the round trips to the database', () => {
  it('are those in docs/round-trips.md: node --import tsx bin/round-trips-table.ts > docs/round-trips.md', async () => {
    const written = await readFile(join(import.meta.dirname, '../../docs/round-trips.md'), 'utf8');
    expect(written).toBe(roundTripsDocument(measured));
  });

  it.each(['GetObject', 'HeadObject'])('of %s are one: bucket and caller are remembered', (operation) => {
    expect(tripsOf(operation)).toBeLessThanOrEqual(budget.get);
  });

  it.each([undefined, 'over an object', '64 MiB'])('of PutObject (%s) are the two of a transaction', (variant) => {
    expect(tripsOf('PutObject', variant)).toBeLessThanOrEqual(budget.put);
  });

  it('of PutObject with versioning are one more, which reads the current version', () => {
    expect(tripsOf('PutObject', 'over a version')).toBeLessThanOrEqual(budget.versionedPut);
  });

  it('of DeleteObject are those of a transaction', () => {
    expect(tripsOf('DeleteObject')).toBeLessThanOrEqual(budget.delete);
  });

  it.each([
    ['ListObjectsV2', '1,000 keys'],
    ['ListObjects', '1,000 keys'],
    ['ListObjectVersions', '1,000 keys'],
    ['ListObjectsV2', 'nothing'],
  ])('of %s (%s) are at most two', (operation, variant) => {
    expect(tripsOf(operation, variant)).toBeLessThanOrEqual(budget.list);
  });

  it('of GetObject are one whoever asks, once they are known', () => {
    expect(measured.callers.map(({ who, next }) => [who, next])).toEqual(
      measured.callers.map(({ who }) => [who, budget.get]),
    );
  });
});
