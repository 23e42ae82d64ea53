import { asService } from '../../../shared/storage/version-changes/service-authorisation.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Bucket } from '../../../shared/storage/buckets/bucket.ts';
import { S3Error } from '../../../shared/errors/s3-error.ts';
import { SourceGone } from '../../../shared/storage/version-changes/outcomes.ts';
import { noObjectAttributes } from '../../../shared/storage/versions/object-attributes.ts';
import { versionIdOf } from '../../../shared/storage/versions/versions.ts';
import { runs } from '../../support/runs/runs.ts';
import { ScrubWorld } from '../../support/storage/scrub-world.ts';

/** An action on one of a few buckets and keys. The numbers choose among the existing ones. */
interface Step {
  readonly bucket: string;
  readonly key: string;
  readonly act: (typeof acts)[number];
  readonly pick: number;
}

const acts = [
  ...['put', 'put', 'put long', 'copy', 'delete', 'delete version', 'enable', 'suspend', 'tag', 'document'],
  ...['begin', 'complete', 'abort', 'remove bucket', 'drain', 'wait'],
] as const;

const steps = fc.array(
  fc.record<Step>({
    bucket: fc.constantFrom('one', 'two'),
    key: fc.constantFrom('a', 'b', 'c/d'),
    act: fc.constantFrom(...acts),
    pick: fc.nat(1000),
  }),
  { maxLength: 60 },
);

const hour = 3_600_000;
const long = { ...noObjectAttributes, metadata: { note: 'x'.repeat(1500) } };

class Play {
  readonly world = new ScrubWorld();
  readonly #uploads: { readonly bucket: Bucket; readonly key: string; readonly id: string }[] = [];

  async take(step: Step): Promise<void> {
    const bucket = (await this.world.buckets.find(step.bucket)) ?? (await this.world.bucket(step.bucket));
    try {
      await this.#act(step, bucket);
    } catch (error) {
      // Refused, as a request would be: such as the removal of a bucket that holds something.
      if (!(error instanceof S3Error || error instanceof SourceGone)) throw error;
    }
  }

  async #act({ act, key, pick }: Step, bucket: Bucket): Promise<void> {
    const { world } = this;
    const upload = this.#uploads[pick % Math.max(1, this.#uploads.length)];
    const acting: Record<(typeof acts)[number], () => Promise<unknown>> = {
      put: () => world.put(bucket, key, 'x'.repeat(pick % 9)),
      'put long': () => world.put(bucket, key, 'text', long),
      copy: () => world.copy(bucket, key, ['a', 'b', 'c/d'][pick % 3]!),
      delete: () => world.objects.remove({ by: 'request', authorisation: asService(bucket, key), owner: 'project' }),
      'delete version': async () => {
        const currentVersion = await world.objects.find(bucket, key);
        if (currentVersion === undefined) return;
        const versions = await world.objects.versions(bucket, key, currentVersion as never, 1000);
        await world.objects.remove({
          by: 'request',
          authorisation: asService(bucket, key, versionIdOf(versions[pick % versions.length]!)),
          owner: 'project',
        });
      },
      enable: async () => world.buckets.setVersioning(asService(await world.buckets.load(bucket.name)), 'on'),
      suspend: async () => world.buckets.setVersioning(asService(await world.buckets.load(bucket.name)), 'suspended'),
      tag: () => world.objects.revise(asService(bucket, key), () => ({ ...long, tags: [['n', String(pick)]] })),
      document: async () =>
        world.buckets.documents.set(
          asService(await world.buckets.load(bucket.name)),
          pick % 2 ? 'lifecycle' : 'tagging',
          { n: pick },
        ),
      begin: async () => {
        this.#uploads.push({ bucket, key, id: await world.begin(bucket, key, ['one', '', 'three']) });
      },
      complete: async () => upload && (await world.complete(upload.bucket, upload.key, upload.id)),
      abort: async () => upload && (await world.uploads.abort(asService(upload.bucket, upload.key), upload.id)),
      'remove bucket': async () => world.buckets.remove(asService(await world.buckets.load(bucket.name))),
      drain: () => world.drain(),
      wait: () => world.pass(pick * 60_000),
    };
    await acting[act]();
  }
}

/** Takes steps during scans of the table. */
function takeMeanwhile({ world }: Play, take: () => Promise<void>): void {
  const { table } = world;
  const scan = table.scan.bind(table);
  table.scan = async function* (options) {
    for await (const item of scan(options)) {
      await take();
      yield item;
    }
  };
}

const inOne = (key: string, act: Step['act'], pick = 0): Step => ({ bucket: 'one', key, act, pick });

/** An old upload that ends when the scrub has looked at the queue, and not yet at the uploads. */
const endedMeanwhile: [Step[], Step[]] = [
  [inOne('a', 'begin')],
  [
    ...[inOne('a', 'delete version'), inOne('a', 'put'), inOne('a', 'begin'), inOne('a', 'complete', 171)],
    ...[inOne('a', 'put'), inOne('a', 'put'), inOne('a', 'abort')],
  ],
];

describe('whatever is done', () => {
  it('a scrub finds nothing, and mends nothing', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const play = new Play();
        for (const step of taken) await play.take(step);
        expect((await play.world.scrub({ repair: true })).findings).toEqual([]);
        await play.world.pass(2 * hour);
        expect((await play.world.scrub({ repair: true })).findings).toEqual([]);
        for (let day = 0; day < 10; day += 1) await play.world.pass(24 * hour);
        expect((await play.world.scrub({ repair: true })).findings).toEqual([]);
      }),
      { numRuns: runs(150) },
    );
  });

  it('while the scrub is at work, too, it takes nothing for wrong', async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, async (before, meanwhile) => {
        const play = new Play();
        for (const step of before) await play.take(step);
        // The entries that wait to be freed would hide many errors.
        await play.world.pass(2 * hour);
        const left = meanwhile.values();
        takeMeanwhile(play, async () => {
          const { value } = left.next();
          if (value) await play.take(value);
        });
        expect((await play.world.scrub({ repair: true })).findings).toEqual([]);
        for (const step of left) await play.take(step);
        await play.world.pass(2 * hour);
        expect((await play.world.scrub({ repair: true })).findings).toEqual([]);
      }),
      { numRuns: runs(300), endOnFailure: true, examples: [endedMeanwhile] },
    );
  });
});
