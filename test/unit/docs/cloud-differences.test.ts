import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { differenceOf, differences, differencesTable } from '../../cloud/differences.ts';

const root = join(import.meta.dirname, '../../..');

describe('what differs in the cloud', () => {
  it.each(differences.map((one) => [one.file, one] as const))(
    '%s is there, with the tests named',
    (file, { tests }) => {
      expect(existsSync(join(root, file))).toBe(true);
      const source = readFileSync(join(root, file), 'utf8');
      const titles = (tests ?? []).flatMap((name) => name.split(' > '));
      // In quotes, or as a case of a table.
      const stands = (title: string): boolean =>
        source.includes(`'${title.replaceAll("'", "\\'")}'`) || source.includes(`\n  ${title}: {`);
      expect(titles.filter((title) => !stands(title))).toEqual([]);
    },
  );

  it('is found by the file and a name, by what encloses it, or by what it encloses', () => {
    const one = differences.find(({ tests }) => tests !== undefined)!;
    const name = one.tests![0]!;
    expect(differenceOf(one.file, name)).toBe(one);
    expect(differenceOf(one.file, `${name} > inner`)).toBe(one);
    expect(differenceOf(one.file, `over http > ${name}`)).toBe(one);
    expect(differenceOf(one.file, `${name} not`)).toBeUndefined();
    expect(differenceOf(one.file, `not ${name}`)).toBeUndefined();
    expect(differenceOf('test/api/put-object.test.ts', name)).toBeUndefined();
  });

  it('is in docs/cloud.md', () => {
    const page = readFileSync(join(root, 'docs/cloud.md'), 'utf8');
    const section = page.split(/^## /m).find((text) => text.startsWith('What differs\n'));
    const rows = (section ?? '').split('\n').filter((line) => line.startsWith('|'));
    expect(rows.join('\n')).toBe(differencesTable());
  });
});
