import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../linearizability/random.ts';
import { boundaries, findLosses, severities, type Cut } from './cuts.ts';
import { Disk, type Sync } from './disk.ts';
import { expectWhole, told } from './expect-whole.ts';
import { record, type Recording } from './recording.ts';
import { firstSeed, isLong, requests, seeds, setUp } from './set-up.ts';

/** Settable, to try a run with other cuts again: TEST_CUTS=1000. */
const cutsOfRun = Number(process.env['TEST_CUTS'] ?? (isLong ? 600 : 50));
const cutsOfFirstStart = isLong ? 100 : 20;
/** The share of random cuts at {@link boundaries}. */
const atBoundaries = 0.8;

const tools = setUp();
/** The recording of the first seed with one process, which several tests use. */
let shared: Promise<Recording> | undefined;

afterAll(async () => {
  await (await shared)?.remove();
});

function recordedOnce(): Promise<Recording> {
  return (shared ??= record(tools.library, { seed: firstSeed, requests, processes: 1 }));
}

/**
 * Acknowledged writes are there after the power failed at any moment, and others are there entirely or not at all: on a disk that keeps
 * synced data, and an arbitrary part of everything else.
 */
describe.each([1, 2])('a service of %i processes whose power fails', (processes) => {
  it.each(seeds)('has everything that it acknowledged, with the seed %i', { timeout: 3_600_000 }, async (seed) => {
    const isShared = seed === firstSeed && processes === 1;
    const recording = await (isShared ? recordedOnce() : record(tools.library, { seed, requests, processes }));
    const { events, root } = recording;
    let isKept = false;
    try {
      await expectWhole(recording);
      const cuts = [...cutsOf(recording, seed), ...duringFirstStart(recording, seed)];
      const losses = await findLosses(recording, cuts, tools.inspector);
      isKept = losses.length > 0;
      if (isKept && isShared) shared = undefined;
      expect(told(losses) + (isKept ? `\nkept: ${root}` : '')).toBe('');
      const answers = events.filter(({ type }) => type === 'answer').length;
      console.log(
        `seed ${seed}, ${processes} processes: ${cuts.length} cuts of ${answers} requests, ${events.length} events`,
      );
    } finally {
      // In the long form, all of them would fill the memory.
      if (!isKept && !isShared) await recording.remove();
    }
  });
});

/** Returns random cuts of a whole run. */
function cutsOf({ events }: Recording, seed: number): Cut[] {
  const random = new Random(seed);
  const places = boundaries(events);
  return Array.from({ length: cutsOfRun }, (_, index): Cut => {
    const at = random.next() < atBoundaries ? random.oneOf(places) : random.below(events.length + 1);
    return { at, severity: severities[index % severities.length]!, seed: seed * 1009 + index };
  });
}

/** Returns some cuts before the first answer, while the data directory is made. */
function duringFirstStart({ events }: Recording, seed: number): Cut[] {
  const random = new Random(seed);
  const first = events.findIndex(({ type }) => type === 'answer');
  const places = events.slice(0, first).flatMap(({ type }, index) => (type === 'mkdir' ? [] : [index + 1]));
  const some = Array.from({ length: cutsOfFirstStart }, (_, index) => {
    const at = random.oneOf(places);
    return { at, severity: severities[index % severities.length]!, seed: index };
  });
  // The first writes of all, each of which leaves a file of zeros.
  const writes = places.filter((at) => events[at - 1]!.type === 'write').slice(0, 6);
  return [...some, ...writes.map((at) => ({ at, severity: 'sizes' as const, seed: at }))];
}

/** Everything that the service syncs, with where. */
const syncs: Readonly<Record<string, (sync: Sync) => boolean>> = {
  'the bytes of a blob': ({ how, path }) => how === 'sync' && /^data\/blobs\/..\/.+/.test(path),
  'the names of blobs': ({ how, path }) => how === 'sync' && /^data\/blobs\/..$/.test(path),
  'the pages of the table': ({ how, path }) => how === 'sync' && path.endsWith('/data.mdb'),
  'the meta pages of the table': ({ how, path }) => how === 'synchronous write' && path.endsWith('/data.mdb'),
  'the name of the table': ({ path }) => path === 'data/table',
  'the directories of blobs': ({ path }) => path === 'data/blobs',
  'the names in the data directory': ({ path }) => path === 'data',
  'the name of the data directory': ({ path }) => path === '',
  'the key file': ({ path }) => /^data\/master\.key/.test(path),
};

describe('a sync that is left out', () => {
  let recording: Recording;
  let cuts: Cut[];
  beforeAll(async () => {
    if (tools.whyNot !== undefined) return;
    recording = await recordedOnce();
    const { events } = recording;
    const answers = events.flatMap(({ type }, index) => (type === 'answer' ? [index + 1] : []));
    const random = new Random(firstSeed);
    cuts = answers.flatMap((at, index) =>
      index % 4 === 0 ? [{ at, severity: random.oneOf(['nothing', 'sectors'] as const), seed: index }] : [],
    );
  }, 600_000);

  it.each(Object.keys(syncs))('is found if it is that of %s', { timeout: 600_000 }, async (name) => {
    const losses = await findLosses(recording, cuts, tools.inspector, { ignores: syncs[name]! });
    expect(losses).not.toEqual([]);
  });

  it('is one of these', () => {
    const unknown = new Set<string>();
    const known = Object.values(syncs);
    const disk = new Disk(recording.root, recording.rootInode, (sync) => {
      if (!known.some((matches) => matches(sync))) unknown.add(`${sync.how} ${sync.path}`);
      return false;
    });
    for (const event of recording.events) disk.apply(event);
    expect([...unknown]).toEqual([]);
  });
});
