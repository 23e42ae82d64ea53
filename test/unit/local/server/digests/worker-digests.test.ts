import { createHash, randomFillSync } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { WorkerDigests } from '../../../../../local/server/digests/worker-digests.ts';
import { DigestRing, slotSize, type DigestOrder } from '../../../../../local/server/digests/digest-ring.ts';
import { loadDigest, startDigest } from '../../../../../shared/checksums/running-digest.ts';
import type { BodyDigests, DigestValues } from '../../../../../shared/protocol/bodies/body-digests.ts';
import { runs } from '../../../../support/runs/runs.ts';

const algorithms = ['SHA256', 'MD5', 'CRC64NVME'] as const;
const program = join(import.meta.dirname, '../../../../../dist/digest-thread.mjs');
const large = 2 ** 20;

const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

function threads(count: number, create: () => Worker = () => new Worker(program)): WorkerDigests {
  const digests = new WorkerDigests(count, create);
  closings.push(() => digests.close());
  return digests;
}

/** Passes bytes in pieces of a size, which are overwritten as soon as they are taken, as buffers that are used again. */
async function digested(digests: BodyDigests, bytes: Buffer, size: number): Promise<DigestValues> {
  const piece = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; at += size) {
    const length = bytes.copy(piece, 0, at, at + size);
    await digests.update(piece.subarray(0, length));
    piece.fill(0);
  }
  return digests.end();
}

async function expected(bytes: Buffer): Promise<DigestValues> {
  await loadDigest('CRC64NVME');
  const crc = startDigest('CRC64NVME');
  crc.update(bytes);
  return new Map([
    ['SHA256', Uint8Array.from(createHash('sha256').update(bytes).digest())],
    ['MD5', Uint8Array.from(createHash('md5').update(bytes).digest())],
    ['CRC64NVME', Uint8Array.from(crc.digest())],
  ]);
}

const sorted = (values: DigestValues): unknown => [...values].sort(([a], [b]) => (a < b ? -1 : 1));

describe('digests in threads', () => {
  it.each([1, 2])('are those of the bytes, of several bodies at a time, in %i', async (count) => {
    const pool = threads(count);
    const lengths = [0, 1, slotSize - 1, slotSize, slotSize + 1, 3 * slotSize, 4 * slotSize + 7, 2 ** 22 + 1];
    await Promise.all(
      lengths.map(async (length, at) => {
        const bytes = randomFillSync(Buffer.alloc(length));
        const values = await digested(pool.start(algorithms, large)!, bytes, [65_536, 4096 * 3 + 1, 300_000][at % 3]!);
        expect(sorted(values)).toEqual(sorted(await expected(bytes)));
      }),
    );
    // The memory of the bodies before is used again.
    const bytes = randomFillSync(Buffer.alloc(large));
    expect(sorted(await digested(pool.start(algorithms, large)!, bytes, 65_536))).toEqual(
      sorted(await expected(bytes)),
    );
  });

  /** A body whose pieces have these sizes in turn, each at one of these offsets in memory. */
  interface PiecedBody {
    readonly length: number;
    readonly sizes: readonly number[];
    readonly offsets: readonly number[];
  }

  /** A body of more small pieces than this goes on in large ones. */
  const maxSmall = 4096;

  const size = fc.oneof(
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 16 }) },
    { weight: 4, arbitrary: fc.integer({ min: 100, max: 4200 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 70_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: slotSize - 9, max: slotSize + 9 }) },
  );
  const body: fc.Arbitrary<PiecedBody> = fc.record({
    length: fc
      .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: -9, max: 70_000 }))
      .map(([full, more]) => Math.max(0, full * slotSize + more)),
    sizes: fc.array(size, { minLength: 1, maxLength: 6 }),
    offsets: fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 1, maxLength: 6 }),
  });

  async function inPieces(digests: BodyDigests, bytes: Buffer, { sizes, offsets }: PiecedBody): Promise<DigestValues> {
    for (let at = 0, count = 0; at < bytes.length; count += 1) {
      const size = count < maxSmall ? sizes[count % sizes.length]! : 65_537;
      const offset = offsets[count % offsets.length]!;
      const piece = Buffer.alloc(offset + size);
      const length = bytes.copy(piece, offset, at, at + size);
      await digests.update(piece.subarray(offset, offset + length));
      at += length;
    }
    return digests.end();
  }

  it('are those of the bytes, whatever the sizes of the pieces and wherever they lie in memory', async () => {
    const source = randomFillSync(Buffer.alloc(3 * slotSize + 70_000));
    const pools = [threads(1), threads(2)];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...pools),
        fc.array(body, { minLength: 1, maxLength: 8 }),
        async (pool, bodies) => {
          const computed = bodies.map(async (pieced) => {
            const bytes = source.subarray(0, pieced.length);
            const values = await inPieces(pool.start(algorithms, large)!, bytes, pieced);
            return [sorted(values), sorted(await expected(bytes))];
          });
          for (const [values, wanted] of await Promise.all(computed)) expect(values).toEqual(wanted);
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it('are left to the caller for small bodies, and for more than eight at a time', async () => {
    const pool = threads(1);
    expect(pool.start(algorithms, 4096)).toBeUndefined();
    const bodies = Array.from({ length: 8 }, () => pool.start(algorithms, large)!);
    expect(pool.start(algorithms, large)).toBeUndefined();
    bodies[0]!.abandon();
    bodies[0]!.abandon();
    await bodies[1]!.end();
    bodies[1]!.abandon();
    expect(pool.start(algorithms, large)).toBeDefined();
    expect(pool.start(algorithms, large)).toBeDefined();
    expect(pool.start(algorithms, large)).toBeUndefined();
  });

  it('go on for others when a body is abandoned', async () => {
    const pool = threads(2);
    const abandoned = pool.start(algorithms, large)!;
    const bytes = randomFillSync(Buffer.alloc(large));
    const other = pool.start(algorithms, large)!;
    await abandoned.update(bytes);
    abandoned.abandon();
    expect(sorted(await digested(other, bytes, 65_536))).toEqual(sorted(await expected(bytes)));
    const next = pool.start(algorithms, large)!;
    expect(sorted(await digested(next, bytes, 65_536))).toEqual(sorted(await expected(bytes)));
  });

  it('use the memory of an abandoned body again once its threads have read it', async () => {
    const memories = new Set<SharedArrayBuffer>();
    const pool = threads(2, () => {
      const worker = new Worker(program);
      const post = worker.postMessage.bind(worker);
      worker.postMessage = (orders: readonly DigestOrder[]) => {
        for (const order of orders) if (order.do === 'start') memories.add(order.memory);
        post(orders);
      };
      return worker;
    });
    for (let at = 0; at < 20; at += 1) {
      const abandoned = pool.start(algorithms, large)!;
      await abandoned.update(Buffer.alloc(large));
      abandoned.abandon();
      await pool.start(algorithms, large)!.end();
    }
    expect(memories.size).toBe(2);
  });

  it('go on when the thread of an abandoned body ends', async () => {
    const workers: Worker[] = [];
    const pool = threads(1, () => {
      workers.push(new Worker(program));
      return workers.at(-1)!;
    });
    const bodies = Array.from({ length: 8 }, () => pool.start(algorithms, large)!);
    const [before, ...others] = bodies;
    before!.abandon();
    await workers[0]!.terminate();
    for (const body of others) body.abandon();
    expect(Array.from({ length: 9 }, () => pool.start(algorithms, large) === undefined)).toEqual([
      ...Array.from({ length: 8 }, () => false),
      true,
    ]);
  });

  it('fail with their thread, and another takes its place', async () => {
    const workers: Worker[] = [];
    const pool = threads(1, () => {
      workers.push(new Worker(program));
      return workers.at(-1)!;
    });
    const [waiting, ending] = [pool.start(algorithms, large)!, pool.start(algorithms, large)!];
    await workers[0]!.terminate();
    await expect(digested(waiting, Buffer.alloc(4 * slotSize), 65_536)).rejects.toThrow('has ended');
    await expect(ending.end()).rejects.toThrow('has ended');
    const bytes = randomFillSync(Buffer.alloc(large));
    expect(sorted(await digested(pool.start(algorithms, large)!, bytes, 65_536))).toEqual(
      sorted(await expected(bytes)),
    );
    expect(workers).toHaveLength(2);
  });

  it('hold back a body that is ahead of them', async () => {
    const sent: DigestOrder[] = [];
    let messages = 0;
    const worker = Object.assign(new EventEmitter(), {
      unref: () => undefined,
      terminate: () => Promise.resolve(0),
      postMessage: (orders: readonly DigestOrder[]) => {
        messages += 1;
        sent.push(...orders);
      },
    });
    const pool = threads(1, () => worker as unknown as Worker);
    const body = pool.start(algorithms, large)!;
    const slot = Buffer.alloc(slotSize);
    for (let full = 0; full < 3; full += 1) expect(body.update(slot)).toBeUndefined();
    let isTaken = false;
    const held = body.update(slot)!.then(() => (isTaken = true));
    await new Promise(setImmediate);
    expect([isTaken, sent.length]).toEqual([false, 4]);
    // The first message starts the body, too, since each message wakes the thread.
    expect(messages).toBe(3);
    const [start] = sent;
    const ring = new DigestRing((start as Extract<DigestOrder, { do: 'start' }>).memory);
    expect(ring.release(0)).toBe(true);
    worker.emit('message', { body: start!.body });
    await held;
    expect(sent).toHaveLength(5);
    expect(ring.release(1)).toBe(false);
    void body.update(Buffer.alloc(2 * slotSize));
    body.abandon();
    const orders = ['start', 'update', 'update', 'update', 'update', 'update', 'abandon'];
    expect(sent.map((order) => order.do)).toEqual(orders);
    // The thread has read all: nothing more is passed of the abandoned body, though there is room for it.
    for (const slot of [2, 3, 4]) ring.release(slot);
    worker.emit('message', { body: start!.body, digests: [] });
    await new Promise(setImmediate);
    expect(sent).toHaveLength(orders.length);
    pool.start(algorithms, large)!.abandon();
    expect(sent.at(-2)).toMatchObject({ do: 'start', memory: ring.memory });
  });
});
