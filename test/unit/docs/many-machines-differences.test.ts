import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { differences, differencesTable } from '../../many-machines/differences.ts';

const root = join(import.meta.dirname, '../../..');

describe('what differs on many machines', () => {
  it.each(differences.map((one) => [one.file, one] as const))(
    '%s is there, with the tests named',
    (file, { tests }) => {
      expect(existsSync(join(root, file))).toBe(true);
      const source = readFileSync(join(root, file), 'utf8');
      const titles = (tests ?? []).flatMap((name) => name.split(' > '));
      expect(titles.filter((title) => !source.includes(`'${title.replaceAll("'", "\\'")}'`))).toEqual([]);
    },
  );

  it('is in docs/many-machines.md', () => {
    const page = readFileSync(join(root, 'docs/many-machines.md'), 'utf8');
    const section = page.split(/^## /m).find((text) => text.startsWith('Tests that do not run\n'));
    const rows = (section ?? '').split('\n').filter((line) => line.startsWith('|'));
    expect(rows.join('\n')).toBe(differencesTable());
  });
});
