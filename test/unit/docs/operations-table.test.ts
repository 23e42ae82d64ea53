import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { operationsPage } from '../../../bin/operations-table.ts';
import { operations } from '../../../functions/operations.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8');

it('docs/operations.md is what the route table, the operations and the tests say now', () => {
  expect(page, 'run: node --import tsx bin/operations-table.ts > docs/operations.md').toBe(operationsPage());
});

it('it lists every operation that is implemented', () => {
  for (const name of operations.keys()) expect(page).toContain(`\n| ${name} | `);
});
