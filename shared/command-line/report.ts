/** The output of a command: data for programs, and the same as text for people. */
export interface Report {
  /** Printed as JSON by `--json`. */
  readonly data: unknown;
  /** Without the final line break. */
  readonly text: string;
}

/** A column of a table: its heading, and the cell of a row. */
export type Column<Row> = readonly [heading: string, text: (row: Row) => string];

/**
 * Returns a table for people, with its rows as the data.
 * @param nothing the text if there are no rows
 */
export function tableReport<Row>(rows: readonly Row[], columns: readonly Column<Row>[], nothing: string): Report {
  if (rows.length === 0) return { data: rows, text: nothing };
  const cells = [columns.map(([heading]) => heading), ...rows.map((row) => columns.map(([, text]) => text(row)))];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => line[at]!.length)));
  const lines = cells.map((line) => line.map((cell, at) => cell.padEnd(widths[at]!)).join('  '));
  return { data: rows, text: lines.map((line) => line.trimEnd()).join('\n') };
}

/** Returns one line per field; undefined fields are omitted. */
export function recordReport(
  data: unknown,
  fields: readonly (readonly [name: string, value: string | undefined])[],
): Report {
  const shown = fields.filter((field): field is [string, string] => field[1] !== undefined);
  const width = Math.max(...shown.map(([name]) => name.length));
  return { data, text: shown.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n') };
}

/** Formats a time in ISO 8601, to the second. */
export function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Formats a number with its noun: `12 keys`, `1 key`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}
