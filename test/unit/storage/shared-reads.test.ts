import { describe, expect, it } from 'vitest';
import { SharedReads } from '../../../shared/storage/shared-reads.ts';

/** Reads that the test ends. */
function controlled() {
  const begun: ((value: string) => void)[] = [];
  const reads = new SharedReads<string, string>(
    (key) => new Promise((resolve) => begun.push((value) => resolve(`${key}:${value}`))),
  );
  return { reads, begun };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('shared reads', () => {
  it('let those who come while one runs share the next, which begins after they came', async () => {
    const { reads, begun } = controlled();
    const first = reads.get('k');
    const [second, third] = [reads.get('k'), reads.get('k')];
    expect(begun).toHaveLength(1);
    begun[0]!('old');
    expect(await first).toBe('k:old');
    await settle();
    expect(begun).toHaveLength(2);
    begun[1]!('new');
    expect(await Promise.all([second, third])).toEqual(['k:new', 'k:new']);
  });

  it('never give anybody a read that began before they asked', async () => {
    const { reads, begun } = controlled();
    const first = reads.get('k');
    begun[0]!('before');
    await first;
    const later = reads.get('k');
    expect(begun).toHaveLength(2);
    begun[1]!('after');
    expect(await later).toBe('k:after');
  });

  it('keep keys apart, and go on after a failure', async () => {
    let fails = true;
    const reads = new SharedReads<string, string>((key) =>
      fails ? Promise.reject(new Error(key)) : Promise.resolve(key),
    );
    const [a, b] = [reads.get('a'), reads.get('a')];
    await expect(a).rejects.toThrow('a');
    await expect(b).rejects.toThrow('a');
    fails = false;
    expect(await Promise.all([reads.get('a'), reads.get('b')])).toEqual(['a', 'b']);
  });
});
