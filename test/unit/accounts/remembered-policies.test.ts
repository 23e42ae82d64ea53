import { beforeEach, expect, it } from 'vitest';
import { RememberedPolicies } from '../../../shared/accounts/remembered-policies.ts';
import type { Attributes, ItemKey } from '../../../shared/ports/key-value-table.ts';
import { accountKey } from '../../../shared/storage/table/keys/account-keys.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';

const [one, other, missing] = ['one', 'other', 'missing'].map((name) => accountKey.policy('shop', name)) as [
  ItemKey,
  ItemKey,
  ItemKey,
];
let table: MemoryTable;
let asked: number;
let policies: RememberedPolicies;

const textsOf = async (project: string, token: string | undefined, keys: readonly ItemKey[]): Promise<unknown[]> =>
  (await policies.of(project, token).getTogether(keys)).map((item) => item?.['text']);
const put = (key: ItemKey, text: string): Promise<unknown> =>
  table.write([{ key, put: { text } satisfies Attributes }]);

beforeEach(async () => {
  table = new MemoryTable();
  asked = 0;
  policies = new RememberedPolicies({
    getTogether: (keys) => {
      asked += keys.length;
      return table.getTogether(keys);
    },
  });
  await put(one, 'first');
  await put(other, 'second');
});

it('reads once what does not change', async () => {
  expect(await textsOf('shop', 'r1', [one, other])).toEqual(['first', 'second']);
  expect(await textsOf('shop', 'r1', [other])).toEqual(['second']);
  expect(await textsOf('shop', 'r1', [other, one])).toEqual(['second', 'first']);
  expect(asked).toBe(2);
});

it('reads everything again once the project has another write token', async () => {
  await textsOf('shop', 'r1', [one, other]);
  await put(one, 'changed');
  expect(await textsOf('shop', 'r2', [one, other])).toEqual(['changed', 'second']);
  expect(asked).toBe(4);
});

it('remembers nothing of what is missing, of another project, or without a token', async () => {
  expect(await textsOf('shop', 'r1', [missing])).toEqual([undefined]);
  await put(missing, 'made');
  expect(await textsOf('shop', 'r1', [missing])).toEqual(['made']);
  expect(await textsOf('store', 'r1', [accountKey.policy('store', 'missing')])).toEqual([undefined]);
  await put(missing, 'changed');
  expect(await textsOf('shop', undefined, [missing])).toEqual(['changed']);
  expect(asked).toBe(4);
});

it('forgets others rather than remember more than it may', async () => {
  for (let at = 0; at < 600; at += 1) await textsOf(`shop ${at}`, 'r1', [one]);
  expect(asked).toBe(600);
  await textsOf('shop 599', 'r1', [one]);
  expect(asked).toBe(600);
  await textsOf('shop 0', 'r1', [one]);
  expect(asked).toBe(601);
});
