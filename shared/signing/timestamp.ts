const basicForm = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** Milliseconds since the epoch of `20130524T000000Z` (ISO 8601, basic form), or undefined. */
export function parseBasicTime(text: string): number | undefined {
  if (!basicForm.test(text)) return undefined;
  const time = Date.parse(text.replace(basicForm, '$1-$2-$3T$4:$5:$6Z'));
  // 30 February passes for 1 March; the way back tells.
  return !Number.isNaN(time) && printBasicTime(time) === text ? time : undefined;
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
