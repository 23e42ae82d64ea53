import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configurationPage, withOptions } from '../../../bin/options-table.ts';
import { allStartOptions } from '../../../shared/command-line/option.ts';

const page = readFileSync(configurationPage, 'utf8');

it('docs/configuration.md has the table of the options of start', () => {
  expect(page, 'run: node --import tsx bin/options-table.ts').toBe(withOptions(page));
  for (const { flags, envVar } of allStartOptions()) expect(page).toContain(`\n| \`${flags}\` | \`${envVar}\` | `);
});
