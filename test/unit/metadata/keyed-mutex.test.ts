import { expect, it } from 'vitest';
import { KeyedMutex } from '../../../shared/metadata/keyed-mutex.ts';

function parallel(
  mutex: KeyedMutex,
  names: readonly string[],
): { readonly running: string[]; readonly ends: (() => void)[] } {
  const running: string[] = [];
  const ends: (() => void)[] = [];
  for (const [at, name] of names.entries()) {
    void mutex.run(name, () => {
      running.push(`${name}${at}`);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  }
  return { running, ends };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('changes of one thing are made in the order they came, those of others meanwhile', async () => {
  const { running, ends } = parallel(new KeyedMutex(), ['a', 'a', 'b', 'a']);
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
  const mutex = new KeyedMutex();
  const results = await Promise.allSettled([
    mutex.run('a', async () => 1),
    mutex.run('a', () => Promise.reject(new Error('no'))),
    mutex.run('a', async () => 3),
  ]);
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))).toEqual([1, 'failed', 3]);
  expect(await mutex.run('a', async () => 4)).toBe(4);
});
