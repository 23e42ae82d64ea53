import { expect, it } from 'vitest';
import { defaultWorkers } from '../../../../../local/server/processes/default-workers.ts';

const GiB = 1024 ** 3;

it.each([
  [1, 16 * GiB, 1],
  [2, 16 * GiB, 2],
  [2, 0.9 * GiB, 1],
  [3, 16 * GiB, 3],
  [4, 16 * GiB, 4],
  [5, 16 * GiB, 4],
  [64, 256 * GiB, 4],
  [8, GiB, 2],
  [8, 0.25 * GiB, 1],
])('with %d processors and %d bytes of memory there are %d by default', (processors, memory, workers) => {
  expect(defaultWorkers(processors, memory)).toBe(workers);
});
