import type { Change, Condition, Expectation, ItemKey } from '../../ports/key-value-table.ts';
import { encodeItem } from './item-encoding.ts';
import { encodeItemKey } from './item-key.ts';

const maxItemsOfWrite = 100;

/** An item of a write: its expectations and its new value. */
export interface Step {
  readonly key: ItemKey;
  readonly encodedKey: Buffer;
  readonly expectations: Expectation[];
  /** Undefined: the item is deleted, or only checked. */
  readonly value: Buffer | undefined;
}

/**
 * Returns the changes in order, followed by the conditions on other items. A condition on a changed item becomes part
 * of its change.
 * @throws Error if the write violates the port's rules
 */
export function stepsOf(changes: readonly Change[], conditions: readonly Condition[]): Step[] {
  if (changes.length + conditions.length > maxItemsOfWrite) {
    throw new Error(
      `a write takes ${maxItemsOfWrite} changes and conditions, not ${changes.length + conditions.length}`,
    );
  }
  const steps = new Map<string, Step>();
  for (const change of changes) {
    const encodedKey = encodeItemKey(change.key);
    const name = encodedKey.toString('latin1');
    if (steps.has(name)) throw new Error('two changes of a write name the same item');
    const value = 'put' in change ? encodeItem(change.put) : undefined;
    steps.set(name, { key: change.key, encodedKey, expectations: change.expect ? [change.expect] : [], value });
  }
  const looked = new Set<string>();
  for (const { key, expect } of conditions) {
    const encodedKey = encodeItemKey(key);
    const name = encodedKey.toString('latin1');
    if (looked.has(name)) throw new Error('two conditions of a write name the same item');
    looked.add(name);
    const change = steps.get(name);
    if (change) change.expectations.push(expect);
    else steps.set(name, { key, encodedKey, expectations: [expect], value: undefined });
  }
  return [...steps.values()];
}
