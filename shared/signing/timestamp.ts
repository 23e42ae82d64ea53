const basicForm = /^(?!00)\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])[0-5]\d[0-5]\dZ$/;

/** Milliseconds since the epoch of `20130524T000000Z` (ISO 8601, basic form), or undefined. */
export function parseBasicTime(text: string): number | undefined {
  if (!basicForm.test(text)) return undefined;
  const day = digits(text, 6, 8);
  const [year, month] = [digits(text, 0, 4), digits(text, 4, 6)];
  const time = Date.UTC(year, month - 1, day, digits(text, 9, 11), digits(text, 11, 13), digits(text, 13, 15));
  // 30 February passes for 1 March; the way back tells.
  return new Date(time).getUTCDate() === day ? time : undefined;
}

function digits(text: string, start: number, end: number): number {
  return Number(text.slice(start, end));
}

/** `20130524T000000Z` */
export function printBasicTime(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
}

/** `2013-05-24T00:00:00Z`, as error bodies show a time. */
export function printTime(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+/, '');
}
