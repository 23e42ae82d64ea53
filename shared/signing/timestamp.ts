const basicForm = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** Milliseconds since the epoch of `20130524T000000Z` (ISO 8601, basic form), or undefined. */
export function parseBasicTime(text: string): number | undefined {
  const match = basicForm.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second] = match.map(Number) as [number, ...number[]];
  const time = Date.UTC(year!, month! - 1, day, hour, minute, second);
  // 30 February passes for 1 March, and 24 o'clock for midnight; the way back tells.
  const back = new Date(time);
  const same =
    back.getUTCFullYear() === year &&
    back.getUTCMonth() === month! - 1 &&
    back.getUTCDate() === day &&
    back.getUTCHours() === hour &&
    back.getUTCMinutes() === minute &&
    back.getUTCSeconds() === second;
  return same ? time : undefined;
}

/** `20130524T000000Z` */
export function printBasicTime(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
}

/** `2013-05-24T00:00:00Z`, as error bodies show a time. */
export function printTime(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+/, '');
}

const httpDate = /^(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (?:GMT|UTC|[+-]0000)$/;

/** Milliseconds since the epoch of a Date header: `Fri, 24 May 2013 00:00:00 GMT` (RFC 9110 §5.6.7), or undefined. */
export function parseHttpDate(text: string): number | undefined {
  const time = httpDate.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time;
}
