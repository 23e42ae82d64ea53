import { encodeItemKey } from '../../../../shared/adapters/embedded/item-key.ts';
import type { Step } from '../../../../shared/adapters/embedded/write-steps.ts';
import type { Attributes, Expectation, WriteOutcome } from '../../../../shared/ports/key-value-table.ts';

/*
 * Encodes writes and their outcomes as attributes, for messages between a worker and the process that commits.
 */

/** Encodes the steps of a write. @param changes how many of them, from the first on, change an item; the others only check */
export function stepsMessage(steps: readonly Step[], changes: number): Attributes {
  return {
    changes,
    steps: steps.map(({ key, expectations, value }) => ({
      pk: key.pk,
      sk: key.sk,
      expect: expectations,
      ...(value && { value }),
    })),
  };
}

export function stepsOfMessage(body: Attributes): { readonly steps: readonly Step[]; readonly changes: number } {
  const steps = (body['steps'] as readonly Attributes[]).map((step): Step => {
    const key = { pk: step['pk'] as string, sk: step['sk'] as string };
    const value = step['value'] as Uint8Array | undefined;
    return {
      key,
      encodedKey: encodeItemKey(key),
      expectations: [...(step['expect'] as readonly Attributes[])] as Expectation[],
      value: value && Buffer.from(value.buffer, value.byteOffset, value.length),
    };
  });
  return { steps, changes: body['changes'] as number };
}

/** Encodes an outcome. The replaced item is included only for a write of one item, as the port requires. */
export function outcomeMessage(outcome: WriteOutcome, { isSingle }: { readonly isSingle: boolean }): Attributes {
  switch (outcome.outcome) {
    case 'written':
      return { outcome: 'written', old: isSingle ? outcome.old.map((item) => ({ ...(item && { item }) })) : [] };
    case 'conflict':
      return {
        outcome: 'conflict',
        failed: outcome.failed.map(({ key, item }) => ({ pk: key.pk, sk: key.sk, ...(item && { item }) })),
      };
    case 'unknown':
      return { outcome: 'unknown' };
  }
}

export function outcomeOfMessage(body: Attributes): WriteOutcome {
  switch (body['outcome']) {
    case 'written':
      return { outcome: 'written', old: (body['old'] as readonly Attributes[]).map(itemOf) };
    case 'conflict':
      return {
        outcome: 'conflict',
        failed: (body['failed'] as readonly Attributes[]).map((one) => ({
          key: { pk: one['pk'] as string, sk: one['sk'] as string },
          item: itemOf(one),
        })),
      };
    default:
      return { outcome: 'unknown' };
  }
}

function itemOf(holder: Attributes): Attributes | undefined {
  return holder['item'] as Attributes | undefined;
}
