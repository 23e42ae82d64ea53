import { expect, it } from 'vitest';
import { ReferenceFilter } from '../../../shared/scrub/reference-filter.ts';
import { CryptoRandomness } from '../../../shared/adapters/system/crypto-randomness.ts';

const names = (kind: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${kind} ${n}`);

it('knows everything that was added, and next to nothing else', () => {
  const filter = new ReferenceFilter(new CryptoRandomness(), 16 * 1024);
  for (const name of names('added', 12_000)) filter.add(name);
  expect(names('added', 12_000).every((name) => filter.has(name))).toBe(true);
  // 1 in 150 by the arithmetic of such filters.
  expect(names('other', 10_000).filter((name) => filter.has(name)).length).toBeLessThan(300);
});

it('errs about other names each time', () => {
  const wrong = Array.from({ length: 2 }, () => {
    const filter = new ReferenceFilter(new CryptoRandomness(), 1024);
    for (const name of names('added', 1500)) filter.add(name);
    return new Set(names('other', 2000).filter((name) => filter.has(name)));
  });
  expect(wrong[0]!.size).toBeGreaterThan(0);
  expect([...wrong[0]!].every((name) => wrong[1]!.has(name))).toBe(false);
});
