const basicForm = /^(?!00)\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])[0-5]\d[0-5]\dZ$/;

/**
 * Parses `20130524T000000Z` (ISO 8601, basic format) into milliseconds since the epoch. Returns undefined if invalid.
 */
export function parseBasicTime(text: string): number | undefined {
  if (!basicForm.test(text)) return undefined;
  const day = digits(text, 6, 8);
  const [year, month] = [digits(text, 0, 4), digits(text, 4, 6)];
  const time = Date.UTC(year, month - 1, day, digits(text, 9, 11), digits(text, 11, 13), digits(text, 13, 15));
  // Date.UTC turns 30 February into 1 March, which this comparison detects.
  return new Date(time).getUTCDate() === day ? time : undefined;
}

function digits(text: string, start: number, end: number): number {
  return Number(text.slice(start, end));
}

/** Formats a time as `20130524T000000Z`. */
export function printBasicTime(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
}

/** Formats a time as `2013-05-24T00:00:00Z`, as error bodies show it. */
export function printTime(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+/, '');
}
