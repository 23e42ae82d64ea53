/** A number of a graph and its time, in milliseconds since the epoch. */
export interface GraphPoint {
  readonly at: number;
  readonly value: number;
}

const eighths = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const rows = 8;

/**
 * Draws a bar graph for a terminal: one column per period from `start` to `end`, blank without a number. The scale starts at zero,
 * or below it if there are negative numbers.
 * @param label formats a number of the scale
 */
export function graph(
  points: readonly GraphPoint[],
  { start, end, period }: { readonly start: number; readonly end: number; readonly period: number },
  label: (value: number) => string,
): string {
  const values = points.map(({ value }) => value);
  const bottom = Math.min(0, ...values);
  const top = Math.max(0, ...values);
  const height = top - bottom || 1;
  const columns = Math.max(1, Math.ceil((end - start) / period));
  const bars = Array.from({ length: columns }, () => -1);
  for (const { at, value } of points) {
    const column = Math.floor((at - start) / period);
    // The smallest value is still visible.
    if (column >= 0 && column < columns) {
      bars[column] = Math.max(1, Math.round(((value - bottom) / height) * rows * 8));
    }
  }
  const labels = Array.from({ length: rows }, (_, row) =>
    row === 0 ? label(top) : row === rows - 1 ? label(bottom) : row === rows / 2 ? label(bottom + height / 2) : '',
  );
  const width = Math.max(...labels.map((text) => text.length));
  const lines = labels.map((text, row) => {
    const floor = (rows - 1 - row) * 8;
    const bar = bars.map((eighth) => eighths[Math.min(8, Math.max(0, eighth - floor))]!).join('');
    return `${text.padStart(width)} ┤${bar}`.trimEnd();
  });
  const [from, to] = [start, end].map((time) => new Date(time).toISOString().slice(0, 16).replace('T', ' '));
  const gap = Math.max(2, columns - from!.length - to!.length);
  return [
    ...lines,
    `${' '.repeat(width)} └${'─'.repeat(columns)}`,
    `${' '.repeat(width + 2)}${from}${' '.repeat(gap)}${to}`,
  ].join('\n');
}
