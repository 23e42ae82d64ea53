import { describe, expect, it } from 'vitest';
import { lifecycleDeps } from '../../functions/compose/lifecycle.ts';
import { LastUses } from '../../shared/accounts/key-uses.ts';
import { billRequests } from '../../shared/billing/bill-requests.ts';
import { dayOf, daysOf } from '../../shared/storage/table/keys/days.ts';
import { projectUsage } from '../../shared/billing/project-usage.ts';
import { RequestHours } from '../../shared/billing/request-hours.ts';
import { applyLifecycle } from '../../shared/lifecycle/apply-lifecycle.ts';
import { realDays } from '../../shared/lifecycle/lifecycle.ts';
import { Manifests } from '../../shared/storage/objects/manifests.ts';
import { asService, byOperator } from '../../shared/storage/version-changes/service-authorisation.ts';
import { noObjectAttributes } from '../../shared/storage/versions/object-attributes.ts';
import { UsageFollower } from '../../shared/billing/usage-follower.ts';
import { UsageFold } from '../../shared/billing/usage-fold.ts';
import { BucketPurge } from '../../shared/storage/removal/bucket-purge.ts';
import { ReleaseQueue } from '../../shared/storage/removal/release-queue.ts';
import { Release } from '../../shared/storage/removal/release.ts';
import { day, hour, minute } from '../../shared/ports/durations.ts';
import type { LoggedRequests } from '../../shared/ports/request-log.ts';
import { MemoryBlobs } from '../model/memory-blobs.ts';
import { CountedBytes, SetClock } from '../support/storage/fixed-deps.ts';
import { MemoryTable } from '../support/storage/memory-table.ts';
import { RotatingStream } from '../support/bytes/rotating-stream.ts';
import { runs } from '../support/runs/runs.ts';

const begin = Date.UTC(2027, 0, 1);
const size = 100;
/** Temporary objects live for so many days. */
const temporaryDays = 30;
/** How often a day something happens: more often in the long form. */
const stepsADay = runs(2) > 2 ? 12 : 2;

/**
 * A deployment in the cloud over a year: a table with DynamoDB's limits, a stream whose shards are closed every four hours and split,
 * clients, and all background work, with a clock that is advanced step by step.
 */
class Deployment {
  readonly clock = new SetClock(begin);
  readonly table = new MemoryTable({ freeChecks: false });
  readonly stream = new RotatingStream(this.table, 2);
  readonly blobs = new MemoryBlobs();
  readonly deps = {
    table: this.table,
    clock: this.clock,
    randomness: new CountedBytes(),
    blobs: this.blobs.of('client', () => this.clock.now()),
  };
  readonly lifecycle = lifecycleDeps(this.deps);
  readonly usage = new UsageFollower({ ...this.deps, fold: new UsageFold({ ...this.deps, shardLifetime: 2 * day }) });
  readonly queue = new ReleaseQueue({ ...this.deps, uploads: this.lifecycle.uploads, grace: day });
  readonly release = new Release({
    ...this.deps,
    manifests: new Manifests(this.deps),
    uploads: this.lifecycle.uploads,
  });
  readonly purge = new BucketPurge({ ...this.deps, ...this.lifecycle });
  readonly requestHours = new RequestHours(this.deps);
  /** The byte-hours of each day, computed from the contents of the buckets. */
  readonly expected = new Map<string, number>();

  constructor() {
    this.table.now = () => this.clock.now();
  }

  get buckets() {
    return this.lifecycle.buckets;
  }

  async put(bucket: string, key: string): Promise<void> {
    const found = await this.buckets.load(bucket);
    const { ref } = await this.deps.blobs.write(none(), { bucketId: found.id, key });
    await this.lifecycle.objects.put(asService(found, key), {
      ...{ marker: false, size, md5: new Uint8Array(16), content: { kind: 'blob', ref }, owner: 'project' },
      ...{ contentType: undefined, checksum: undefined, encryption: undefined, objectAttributes: noObjectAttributes },
    });
  }

  async remove(bucket: string, key: string): Promise<void> {
    await this.lifecycle.objects.remove({
      by: 'request',
      authorisation: asService(await this.buckets.load(bucket), key),
      owner: 'project',
    });
  }

  /** An upload of one part that is aborted. */
  async abort(bucket: string): Promise<void> {
    const found = await this.buckets.load(bucket);
    const key = 'upload';
    const authorisation = asService(found, key);
    const { uploads } = this.lifecycle;
    const id = await uploads.create(authorisation, {
      ...{ owner: 'project', initiator: 'project', contentType: undefined, objectAttributes: noObjectAttributes },
      ...{ encryption: undefined, checksum: undefined },
    });
    const { ref } = await this.deps.blobs.write(none(), { bucketId: found.id, key });
    const upload = await uploads.findOpen(found, key, id);
    const part = { number: 1, blob: ref, size: 0, md5: new Uint8Array(16), checksum: undefined };
    await uploads.addPart(authorisation, upload, part);
    await uploads.abort(authorisation, id);
  }

  /** Runs the followers, with the last batches delivered twice, and the scheduled work. */
  async background(): Promise<void> {
    await this.#follow();
    for (const batch of this.stream.again(this.clock.now()).slice(-2)) await this.usage.follow(batch);
    await applyLifecycle(this.lifecycle, { calendar: realDays });
    await this.release.sweep();
    await this.purge.sweep();
    await this.#follow();
    const lastUses = new LastUses(this);
    await billRequests(
      { clock: this.clock, requestHours: this.requestHours, lastUses, requestLog: { between } },
      () => false,
    );
  }

  async #follow(): Promise<void> {
    for (let batches = this.stream.next(); batches.length > 0; batches = this.stream.next()) {
      for (const batch of batches) {
        await this.usage.follow(batch);
        await this.queue.follow(batch);
      }
    }
  }

  /** Objects that are there, by the items of the table. */
  async objects(): Promise<number> {
    let count = 0;
    for await (const { key } of this.table.scan({ prefixes: ['head/'] })) if (key.sk !== '') count += 1;
    return count;
  }

  async pass(time: number): Promise<void> {
    const held = (await this.objects()) * size;
    for (let at = this.clock.time; at < this.clock.time + time; at += hour) {
      this.expected.set(dayOf(at), (this.expected.get(dayOf(at)) ?? 0) + held);
    }
    this.clock.time += time;
  }

  /** How many items there are of each kind. */
  async items(): Promise<Readonly<Record<string, number>>> {
    const kinds: Record<string, number> = {};
    for await (const { key } of this.table.scan()) {
      const kind = key.pk.split('/', 1)[0]!;
      kinds[kind] = (kinds[kind] ?? 0) + 1;
    }
    return kinds;
  }
}

async function* none(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1);
}

/** A request an hour since the deployment. */
async function between(from: number, until: number): Promise<readonly LoggedRequests[]> {
  if (until <= begin || until - from < minute) return [];
  return [{ payer: 'project', class: 'a', requests: 1, bytesIn: 1, bytesOut: 2 }];
}

describe('a year of a deployment', () => {
  it('keeps counters, queues and passes bounded, and the bill exact', { timeout: 600_000 }, async () => {
    const deployment = new Deployment();
    const { buckets, table, usage, clock } = deployment;
    await buckets.create(byOperator, 'kept', 'project', 10);
    await buckets.create(byOperator, 'temporary', 'project', 10);
    const temporary = await buckets.load('temporary');
    await buckets.documents.set(asService(temporary), 'lifecycle', {
      rules: [{ id: 'old', status: 'Enabled', scope: { form: 'filter' }, expiration: { days: temporaryDays } }],
    });
    const most: Record<string, number> = {};
    const pause = day / stepsADay;
    for (let step = 0; step < 365 * stepsADay; step += 1) {
      await deployment.put('kept', `k${step % 5}`);
      await deployment.put('temporary', `t${step}`);
      if (step % 3 === 2) await deployment.remove('kept', `k${(step + 2) % 5}`);
      if (step % 7 === 0) await deployment.abort('kept');
      if (step % 20 === 10) {
        await buckets.create(byOperator, 'short-lived', 'project', 10);
        await deployment.put('short-lived', 'key');
        await deployment.remove('short-lived', 'key');
        clock.time += minute;
        await buckets.remove(asService(await buckets.load('short-lived')));
        clock.time -= minute;
      }
      if (step === 100 || step === 400) deployment.stream.split();
      await deployment.background();
      await deployment.pass(pause);
      for (const [kind, count] of Object.entries(await deployment.items()))
        most[kind] = Math.max(most[kind] ?? 0, count);
    }
    await deployment.background();

    const kept = await buckets.load('kept');
    const held = await Promise.all([kept, temporary].map(({ id }) => usage.of(id)));
    const objects = await deployment.objects();
    expect(held.reduce((sum, one) => sum + one.objects, 0)).toBe(objects);
    expect(held.reduce((sum, one) => sum + one.bytesOfVersions, 0)).toBe(objects * size);
    // An expired object is removed within two days, and its bytes a day later.
    const living = (temporaryDays + 2) * stepsADay + 5;
    expect(most['head']).toBeLessThanOrEqual(living);
    const released = 3 * stepsADay * 3;
    expect(deployment.blobs.kept.size).toBeLessThanOrEqual(living + released);
    // Two buckets, two days of shards each, and those of the removed buckets of a day.
    expect(most['usage']).toBeLessThanOrEqual(2 * (2 * 6 * 8 + 1) + 10);
    // A day of released content, a week of ended uploads.
    expect(most['garbage']).toBeLessThanOrEqual(6 * stepsADay * 2 + 8 * stepsADay * 3);
    expect(most['lifecycle-slices'] ?? 0).toBeLessThanOrEqual(64);
    expect(most['graves']).toBeLessThanOrEqual(4);
    // The bill is for good: a row of each bucket for each day, and one for each hour with requests.
    const sizes = await deployment.items();
    const holders = 2 + Math.ceil((365 * stepsADay) / 20);
    expect(sizes['storage']).toBeLessThanOrEqual(365 * 2 + holders * 2 + 2 * 2 * 6 * 8);
    expect(sizes['requests']).toBeLessThanOrEqual(365 * 24 + 24);

    table.calls.query = 0;
    for (const month of ['2027-02', '2027-07', '2027-11']) {
      const days = await projectUsage(table, 'project', daysOf(month)!, clock.now());
      for (const { day: name, byteHours, a } of days) {
        expect([name, byteHours, a]).toEqual([name, deployment.expected.get(name), 24]);
      }
    }
    expect(table.calls.query).toBeLessThan(60);
  });
});
