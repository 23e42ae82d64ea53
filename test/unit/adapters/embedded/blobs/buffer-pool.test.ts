import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BufferPool } from '../../../../../shared/adapters/embedded/blobs/buffer-pool.ts';

const size = 256 * 1024;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('never gives the same bytes to two at a time, and uses them again', () => {
  const pool = new BufferPool(size, 4);
  const inUse = new Set<Buffer>();
  for (let round = 0; round < 3; round += 1) {
    while (inUse.size < 300) inUse.add(pool.take());
    for (const [at, buffer] of [...inUse].entries()) buffer.fill(at % 251);
    for (const [at, buffer] of [...inUse].entries())
      expect([buffer.length, buffer[0], buffer.at(-1)]).toEqual([size, at % 251, at % 251]);
    for (const buffer of [...inUse].slice(round * 10)) {
      inUse.delete(buffer);
      pool.give(buffer);
    }
  }
  expect(pool.slabs).toBe(3);
});

it('drops what many uploads needed, soon after they ended, unless it is needed again', () => {
  const pool = new BufferPool(size, 4);
  const buffers = Array.from({ length: 300 }, () => pool.take());
  expect(pool.slabs).toBe(3);
  buffers.splice(140).forEach((buffer) => pool.give(buffer));
  vi.advanceTimersByTime(4000);
  expect(pool.slabs).toBe(3);
  const again = Array.from({ length: 100 }, () => pool.take());
  vi.advanceTimersByTime(4000);
  expect(pool.slabs).toBe(2);
  for (const buffer of [...buffers, ...again]) pool.give(buffer);
  vi.advanceTimersByTime(6000);
  expect(pool.slabs).toBe(0);
  for (let at = 0; at < 4; at += 1) pool.take();
  expect(pool.slabs).toBe(0);
});
