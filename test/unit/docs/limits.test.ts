import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorTable } from '../../../shared/errors/table.ts';
import { limitTable } from '../../../shared/protocol/limits.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/limits.md'), 'utf8');

/** `5 GiB`, `1,000`, `20 s`, `7 days`: in bytes, and in milliseconds. `by machine`: it depends on that. */
function valueOf(text: string): number {
  const [, digits = '', unit = ''] = /^([\d,]+)(?: (\w+))?$/.exec(text) ?? [];
  return text === 'none' || text === 'by machine' ? Infinity : Number(digits.replaceAll(',', '')) * units[unit]!;
}

const second = 1000;
const units: Readonly<Record<string, number>> = {
  ...{ '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 },
  ...{ ms: 1, s: second, min: 60 * second, day: 86_400 * second, days: 86_400 * second },
};

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.includes(' | `'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('docs/limits.md', () => {
  it('has every limit with its default and its range', () => {
    const told = rows.map(([, , name, value, least, most]) => [
      name!.replaceAll('`', ''),
      { value: valueOf(value!), least: valueOf(least!), most: valueOf(most!) },
    ]);
    expect(Object.fromEntries(told)).toEqual(limitTable);
    expect(told).toHaveLength(Object.keys(limitTable).length);
  });

  it('names errors that there are, with their status', () => {
    const errors = rows.flatMap((cells) => [...cells[6]!.matchAll(/(\d{3}) (\w+)/g)]);
    expect(errors.length).toBeGreaterThan(25);
    for (const [, status, code] of errors) {
      const known = errorTable[code as keyof typeof errorTable];
      // A request altogether ends as a slow body does, with another status.
      expect([known.status, ...(code === 'RequestTimeout' ? [408] : [])], code).toContain(Number(status));
    }
  });

  it.each(Object.keys(limitTable))('tells of %s', (name) => {
    expect(page).toMatch(new RegExp(`^\\|.*\\|.*\`${name}\``, 'm'));
  });
});
