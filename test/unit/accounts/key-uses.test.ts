import { describe, expect, it } from 'vitest';
import { KeyUses, LastUses, useInterval, type UseOfKey } from '../../../shared/accounts/key-uses.ts';
import type { User } from '../../../shared/access/identity.ts';
import { SetClock } from '../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../support/storage/memory-table.ts';

const noon = Date.UTC(2026, 10, 21, 12);
const user = (more: object = {}) => ({ kind: 'user', accessKeyId: 'AKIA1', id: 'USR1', ...more }) as User;

function world() {
  const clock = new SetClock(noon);
  const noted: UseOfKey[] = [];
  const uses = new KeyUses({ clock, note: (use) => noted.push(use) });
  return { clock, noted, uses };
}

describe('KeyUses', () => {
  it('notes the first use of each key in a quarter of an hour', () => {
    const { clock, noted, uses } = world();
    for (let request = 0; request < 1000; request += 1) uses.used(user(), 's3');
    uses.used(user({ accessKeyId: 'AKIA2' }), 'iam');
    clock.time += useInterval - 1;
    uses.used(user(), 's3');
    expect(noted).toEqual([
      { id: 'AKIA1', at: noon, service: 's3' },
      { id: 'AKIA2', at: noon, service: 'iam' },
    ]);
    clock.time += 1;
    uses.used(user(), 'sts');
    expect(noted.at(-1)).toEqual({ id: 'AKIA1', at: noon + useInterval, service: 'sts' });
  });

  it('notes of temporary keys the role, and not the key that one was made with', () => {
    const { noted, uses } = world();
    uses.used(user({ session: { kind: 'session', parent: 'AKIA1' } }), 's3');
    expect(noted).toEqual([]);
    uses.used(user({ id: 'ROL1', accessKeyId: 'ASIA1', role: { name: 'ci' }, session: { kind: 'role' } }), 's3');
    expect(noted).toEqual([{ id: 'ROL1', at: noon, service: 's3' }]);
  });

  it('forgets keys rather than grow', () => {
    const { noted, uses } = world();
    for (let key = 0; key < 10_001; key += 1) uses.used(user({ accessKeyId: `AKIA${key}` }), 's3');
    uses.used(user({ accessKeyId: 'AKIA0' }), 's3');
    expect(noted).toHaveLength(10_002);
  });
});

describe('LastUses', () => {
  it('stores the last of those that were added, once each, and nothing that is older', async () => {
    const table = new MemoryTable();
    const uses = new LastUses({ table });
    uses.add({ id: 'AKIA1', at: noon, service: 's3' });
    uses.add({ id: 'AKIA1', at: noon + 1, service: 'iam' });
    expect(await uses.of('AKIA1')).toBeUndefined();
    await uses.flush();
    const last = { at: noon + 1, service: 'iam' };
    expect(await uses.of('AKIA1')).toEqual(last);
    await uses.put({ id: 'AKIA1', at: noon, service: 's3' });
    expect(await uses.of('AKIA1')).toEqual(last);
    table.write = async () => {
      throw new Error('nothing is left to write');
    };
    await uses.flush();
  });
});
