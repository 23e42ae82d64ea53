import { expect, it } from 'vitest';
import { Turns } from '../../../shared/metadata/turns.ts';

function parallel(
  turns: Turns,
  names: readonly string[],
): { readonly running: string[]; readonly ends: (() => void)[] } {
  const running: string[] = [];
  const ends: (() => void)[] = [];
  for (const [at, name] of names.entries()) {
    void turns.take(name, () => {
      running.push(`${name}${at}`);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  }
  return { running, ends };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('changes of one thing are made in the order they came, those of others meanwhile', async () => {
  const { running, ends } = parallel(new Turns(), ['a', 'a', 'b', 'a']);
  await settled();
  expect(running).toEqual(['a0', 'b2']);
  ends[0]!();
  await settled();
  expect(running).toEqual(['a0', 'b2', 'a1']);
  ends[2]!();
  await settled();
  expect(running).toEqual(['a0', 'b2', 'a1', 'a3']);
});

it('gives each its own result, and a failure to nobody else', async () => {
  const turns = new Turns();
  const results = await Promise.allSettled([
    turns.take('a', async () => 1),
    turns.take('a', () => Promise.reject(new Error('no'))),
    turns.take('a', async () => 3),
  ]);
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))).toEqual([1, 'failed', 3]);
  expect(await turns.take('a', async () => 4)).toBe(4);
});
