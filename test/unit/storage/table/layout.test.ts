import { describe, expect, it } from 'vitest';
import {
  checkLayout,
  claimLayout,
  identityLayout,
  requireLayout,
  sealedLayout,
} from '../../../../shared/storage/table/layout.ts';
import { itemKey } from '../../../../shared/storage/table/keys/keys.ts';
import { CountedBytes } from '../../../support/storage/fixed-deps.ts';
import { MemoryTable } from '../../../support/storage/memory-table.ts';

const stored = (table: MemoryTable): unknown => table.get(itemKey.deployment('layout'));

describe('a layout that programs must know', () => {
  it.each([undefined, sealedLayout])('is recorded, and leaves how items are stored: %j', async (before) => {
    const deps = { table: new MemoryTable(), randomness: new CountedBytes() };
    if (before) await claimLayout(deps, before);
    await requireLayout(deps, identityLayout);
    const least = { version: before?.version ?? 1, leastReader: identityLayout, leastWriter: identityLayout };
    expect(await stored(deps.table)).toMatchObject(least);
    const written = deps.table.feed.length;
    await requireLayout(deps, identityLayout);
    expect(deps.table.feed).toHaveLength(written);
    expect(await claimLayout(deps)).toMatchObject(least);
    expect(await claimLayout(deps, sealedLayout)).toMatchObject({ ...least, version: sealedLayout.version });
    await checkLayout(deps.table, 'write');
  });
});
