/** What a command has to say: data for programs, and the same as text for people. */
export interface Report {
  /** What `--json` prints. */
  readonly data: unknown;
  /** Without its last line break. */
  readonly text: string;
}

/** A column of a table: its heading, and the text of a row in it. */
export type Column<Row> = readonly [heading: string, text: (row: Row) => string];

/**
 * A table for people, and its rows as they are for programs.
 * @param nothing what is said where there are no rows
 */
export function tableReport<Row>(rows: readonly Row[], columns: readonly Column<Row>[], nothing: string): Report {
  if (rows.length === 0) return { data: rows, text: nothing };
  const cells = [columns.map(([heading]) => heading), ...rows.map((row) => columns.map(([, text]) => text(row)))];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => line[at]!.length)));
  const lines = cells.map((line) => line.map((cell, at) => cell.padEnd(widths[at]!)).join('  '));
  return { data: rows, text: lines.map((line) => line.trimEnd()).join('\n') };
}

/** One thing: a line for each of its fields, those that are undefined left out. */
export function recordReport(
  data: unknown,
  fields: readonly (readonly [name: string, value: string | undefined])[],
): Report {
  const shown = fields.filter((field): field is [string, string] => field[1] !== undefined);
  const width = Math.max(...shown.map(([name]) => name.length));
  return { data, text: shown.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n') };
}

/** A time as people and programs read it, to the second. */
export function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** `12 keys`, `1 key`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}
