import type { Attribute } from '../../shared/ports/key-value-table.ts';

/** A 64-bit hash in two halves: with millions of states, two collide by chance once in a million test runs. */
export interface Hash {
  readonly high: number;
  readonly low: number;
}

export const nothing: Hash = { high: 0x9e3779b9, low: 0x85ebca6b };

/** Hashes a text (after cyrb53, which is in the public domain). */
export function hashOf(text: string): Hash {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return { high: high >>> 0, low: low >>> 0 };
}

/** Returns the hash of a sequence. */
export function chained(before: Hash, next: Hash): Hash {
  const high = Math.imul(before.high ^ next.high, 2654435761) + before.low;
  const low = Math.imul(before.low ^ next.low, 1597334677) + before.high;
  return { high: (high ^ (high >>> 15)) >>> 0, low: (low ^ (low >>> 13)) >>> 0 };
}

/** Returns the hash of a multiset with one more element: independent of the order, and {@link removed} undoes it. */
export function added(bag: Hash, one: Hash): Hash {
  return { high: (bag.high + one.high) >>> 0, low: (bag.low + one.low) >>> 0 };
}

export function removed(bag: Hash, one: Hash): Hash {
  return { high: (bag.high - one.high) >>> 0, low: (bag.low - one.low) >>> 0 };
}

/** Returns any value of the model as text, equal for equal values whatever the order of their properties. */
export function canonical(value: unknown): string {
  if (value === undefined) return '-';
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (value instanceof Uint8Array) return `x${Buffer.from(value).toString('base64')}`;
  if (value instanceof Set) return `{${[...(value as Set<Attribute>)].map(canonical).sort().join()}}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const names = Object.keys(value).sort();
  return `(${names.map((name) => `${name}:${canonical((value as Record<string, unknown>)[name])}`).join()})`;
}

const known = new WeakMap<object, Hash>();

/** Returns {@link hashOf} the canonical form. Objects must be immutable, since each is hashed only once. */
export function hashOfValue(value: unknown): Hash {
  if (typeof value !== 'object' || value === null) return hashOf(canonical(value));
  const before = known.get(value);
  if (before) return before;
  const hash = hashOf(canonical(value));
  known.set(value, hash);
  return hash;
}
