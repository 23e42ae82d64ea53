import { describe, expect, it } from 'vitest';
import { graph } from '../../../../local/cli/graph.ts';

const minute = 60_000;
const hour = 60 * minute;
const start = Date.UTC(2026, 0, 2);
const range = { start, end: start + 10 * hour, period: hour };
const draw = (values: readonly (number | undefined)[]): string[] =>
  graph(
    values.flatMap((value, at) => (value === undefined ? [] : [{ at: start + at * hour, value }])),
    range,
    (value) => `${value} B`,
  ).split('\n');

describe('a graph', () => {
  it('has a bar for each number, a gap where there is none, a scale and times', () => {
    expect(draw([0, 16, 32, undefined, 64, 60, 1])).toEqual([
      '64 B ┤    █▄',
      '     ┤    ██',
      '     ┤    ██',
      '     ┤    ██',
      '32 B ┤  █ ██',
      '     ┤  █ ██',
      '     ┤ ██ ██',
      ' 0 B ┤▁██ ██▁',
      '     └──────────',
      '      2026-01-02 00:00  2026-01-02 10:00',
    ]);
  });

  it('draws what is always the same, and nothing at all', () => {
    expect(draw([5, 5])[0]).toBe('  5 B ┤██');
    expect(draw([0, 0])[7]).toBe('  0 B ┤▁▁');
    expect(draw([])).toHaveLength(10);
  });

  it('leaves out what is not between its ends', () => {
    const points = [-1, 10].map((at) => ({ at: start + at * hour, value: 1 }));
    expect(graph(points, range, String)).not.toMatch(/[▁▂▃▄▅▆▇█]/);
  });
});
