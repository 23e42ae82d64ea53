import { scrubDeps } from '../../functions/compose/scrub.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { scrub } from '../../shared/scrub/scrub.ts';
import { Slice } from '../../shared/scrub/slice.ts';
import type { BlobStore } from '../../shared/ports/blob-store.ts';
import { SetClock } from '../support/storage/fixed-deps.ts';
import { PipelineInProcess } from '../support/storage/pipeline-in-process.ts';
import { Meter, MeteredTable, type Cost } from './metered.ts';
import { owner } from './scenarios.ts';

const objects = 500;
const slices = 10;

/** The measured cost of the nightly scrub. */
export interface MeasuredScrub {
  /** How often the first slice reads the whole table, and each of the others. */
  readonly passes: { readonly first: number; readonly others: number };
  /** Read units for the whole table, once, and blobs asked for in all slices together, for each object. */
  readonly unitsOfPass: number;
  readonly blobGets: number;
  /** Read units that all slices together take besides. */
  readonly unitsBesides: number;
}

/** Scrubs a service of some hundred objects slice by slice, and counts. */
export async function measureScrub(): Promise<MeasuredScrub> {
  const meter = new Meter();
  const table = new MeteredTable(meter);
  const clock = new SetClock(Math.floor(Date.now() / 1000) * 1000 + 9);
  let blobs: BlobStore | undefined;
  const before = (given: BlobStore): BlobStore => (blobs = meter.before(given));
  const service = new PipelineInProcess([owner], { table, clock, before });
  await service.send({ method: 'PUT', path: '/bucket' }, owner);
  for (let nth = 0; nth < objects; nth += 1) {
    const path = `/bucket/${'k'.repeat(56)}${String(nth).padStart(4, '0')}`;
    await service.send({ method: 'PUT', path, body: 'x'.repeat(1000) }, owner);
    clock.time += 10;
  }
  meter.take();
  const deps = scrubDeps({ table, blobs: blobs!, clock, randomness: new CryptoRandomness() });
  const passes: number[] = [];
  const costs: Cost[] = [];
  for (let index = 1; index <= slices; index += 1) {
    table.scans = 0;
    await scrub(
      { ...deps, drain: () => Promise.resolve() },
      { repair: false, minAge: 0, slice: new Slice(index, slices), filterBytes: 65_536 },
    );
    passes.push(table.scans);
    costs.push(meter.take());
  }
  const [first, ...others] = passes as [number, ...number[]];
  const sum = (field: 'readUnits' | 'blobGets'): number => costs.reduce((total, cost) => total + cost[field], 0);
  return {
    passes: { first, others: Math.max(...others) },
    unitsOfPass: (await table.scanUnits()) / objects,
    blobGets: sum('blobGets') / objects,
    unitsBesides: sum('readUnits') / objects,
  };
}
