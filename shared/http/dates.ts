/**
 * Dates as header fields, documents and signatures write them. All are milliseconds since 1970 here; a parser answers
 * undefined for whatever is not a date, never NaN and never the next best date (30 February).
 */

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `Sun, 06 Nov 1994 08:49:37 GMT`. Old clients write the zone `+0000` and a day of one digit, and leave out the name of the day. */
const imfFixdate =
  /^(?:[A-Z][a-z]{2}, )?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) (?:GMT|UTC|[+-]0000)$/;
/** `Sunday, 06-Nov-94 08:49:37 GMT` */
const rfc850 = /^[A-Z][a-z]{5,8}, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
/** `Sun Nov  6 08:49:37 1994` */
const asctime = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;

/** Reads an HTTP date in any of its three forms (RFC 9110 §5.6.7). The name of the day is not checked. */
export function parseHttpDate(text: string): number | undefined {
  const trimmed = text.trim();
  let match = imfFixdate.exec(trimmed);
  if (match) return moment(match[3]!, monthOf(match[2]!), match[1]!, match[4]!, match[5]!, match[6]!);
  match = rfc850.exec(trimmed);
  if (match) return moment(fullYear(match[3]!), monthOf(match[2]!), match[1]!, match[4]!, match[5]!, match[6]!);
  match = asctime.exec(trimmed);
  if (match) return moment(match[6]!, monthOf(match[1]!), match[2]!, match[3]!, match[4]!, match[5]!);
  return undefined;
}

/** Writes an HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`. Milliseconds are cut off. */
export function formatHttpDate(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}

/** Behind the last moment that an HTTP date can say: its year has four digits. */
const beyondHttpDates = 253_402_300_800_000;

/** As {@link formatHttpDate}; undefined for what no HTTP date can say. */
export function httpDateIfAny(milliseconds: number): string | undefined {
  return milliseconds < beyondHttpDates ? formatHttpDate(milliseconds) : undefined;
}

const iso = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:?\d{2}))?$/i;

/** Reads ISO 8601 with a zone, with or without a fraction of a second; a date alone is its midnight, UTC. */
export function parseIsoDate(text: string): number | undefined {
  const match = iso.exec(text.trim());
  if (!match) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match;
  const time = moment(year!, Number(month) - 1, day!, hour, minute, second);
  const offset = zoneOffset(zone);
  if (time === undefined || offset === undefined) return undefined;
  return time + Number(fraction.padEnd(3, '0').slice(0, 3)) - offset;
}

/** Reads what SDKs send where the API says "timestamp" only: an HTTP date or ISO 8601. */
export function parseTimestamp(text: string): number | undefined {
  return parseHttpDate(text) ?? parseIsoDate(text);
}

function monthOf(name: string): number {
  return months.indexOf(name);
}

/** Two digits mean 1970 to 2069, as POSIX has it; RFC 9110's rule needs a clock and differs only far from today. */
function fullYear(twoDigits: string): string {
  return (Number(twoDigits) < 70 ? '20' : '19') + twoDigits;
}

/** A leap second (60) is the first second of the next minute. */
function moment(
  year: string,
  month: number,
  day: string,
  hour: string,
  minute: string,
  second: string,
): number | undefined {
  if (month < 0 || month > 11 || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), month, Number(day)); // Date.UTC would take the year 99 for 1999
  if (date.getUTCMonth() !== month || date.getUTCDate() !== Number(day)) return undefined;
  return date.setUTCHours(Number(hour), Number(minute), Number(second));
}

function zoneOffset(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
