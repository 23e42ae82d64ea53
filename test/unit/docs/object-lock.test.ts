import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { lockTable } from '../../support/storage/lock-matrix.ts';

it('docs/object-lock.md has the matrix of what locks yield to, which test/api/object-lock-matrix tries', () => {
  const page = readFileSync(new URL('../../../docs/object-lock.md', import.meta.url), 'utf8');
  expect(page).toContain(`\n${lockTable()}\n`);
});
