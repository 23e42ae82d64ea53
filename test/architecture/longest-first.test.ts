import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import { longest, LongestFirst } from '../support/runs/longest-first.ts';

const root = join(import.meta.dirname, '../..');

it.each(longest)('%s, which is to be started first, is there', (file) => {
  expect(existsSync(join(root, file))).toBe(true);
});

it('no file is lost, groups stay together, and the longest are first in theirs', async () => {
  const inGroup = (groupOrder: number, name: string): TestSpecification => {
    const config = { sequence: { groupOrder }, isolate: false };
    return { moduleId: join(root, name), project: { name: 'some', config } } as unknown as TestSpecification;
  };
  const cache = { getFileTestResults: () => undefined, getFileStats: () => ({ size: 1 }) };
  const sequencer = new LongestFirst({ config: { root }, cache } as unknown as Vitest);
  const [first, second] = longest as [string, string];
  const files = [
    inGroup(0, 'test/a'),
    inGroup(1, 'test/b'),
    inGroup(1, second),
    inGroup(1, 'test/c'),
    inGroup(1, first),
  ];
  const sorted = await sequencer.sort(files);
  expect(sorted).toEqual([0, 4, 2, 1, 3].map((at) => files[at]));
});
