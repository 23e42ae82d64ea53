/**
 * Dates in header fields, documents and signatures, as milliseconds since 1970. Parsers return undefined for an invalid
 * date, never NaN or the next valid date (30 February).
 */

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * `Sun, 06 Nov 1994 08:49:37 GMT`. Old clients write the zone as `+0000`, use one digit for the day, and omit its name.
 */
const imfFixdate =
  /^(?:[A-Z][a-z]{2}, )?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) (?:GMT|UTC|[+-]0000)$/;
/** `Sunday, 06-Nov-94 08:49:37 GMT` */
const rfc850 = /^[A-Z][a-z]{5,8}, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
/** `Sun Nov  6 08:49:37 1994` */
const asctime = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;

/** Parses an HTTP date in any of its three forms (RFC 9110 §5.6.7). Does not check the name of the day. */
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

/** Formats an HTTP date: `Sun, 06 Nov 1994 08:49:37 GMT`. Milliseconds are truncated. */
export function formatHttpDate(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}

/** The first moment after the range of HTTP dates, whose years have four digits. */
const beyondHttpDates = 253_402_300_800_000;

/** Formats as {@link formatHttpDate}, or returns undefined if the time is out of range. */
export function httpDateIfAny(milliseconds: number): string | undefined {
  return milliseconds < beyondHttpDates ? formatHttpDate(milliseconds) : undefined;
}

const iso = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:?\d{2}))?$/i;

/** Parses ISO 8601 with a zone and an optional fraction of a second. A date alone means midnight UTC. */
export function parseIsoDate(text: string): number | undefined {
  const match = iso.exec(text.trim());
  if (!match) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match;
  const time = moment(year!, Number(month) - 1, day!, hour, minute, second);
  const offset = zoneOffset(zone);
  if (time === undefined || offset === undefined) return undefined;
  return time + Number(fraction.padEnd(3, '0').slice(0, 3)) - offset;
}

/** Formats a time in seconds since 1970 as ISO 8601: `1994-11-06T08:49:37Z`. */
export function formatIsoSecond(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

/** Parses a "timestamp" as SDKs send it: an HTTP date or ISO 8601. */
export function parseTimestamp(text: string): number | undefined {
  return parseHttpDate(text) ?? parseIsoDate(text);
}

function monthOf(name: string): number {
  return months.indexOf(name);
}

/**
 * Expands two digits to 1970–2069, as POSIX does. RFC 9110's rule needs the current time and gives another result only
 * for distant years.
 */
function fullYear(twoDigits: string): string {
  return (Number(twoDigits) < 70 ? '20' : '19') + twoDigits;
}

/**
 * Returns a moment in milliseconds, or undefined if it does not exist. A leap second (60) is the first second of the
 * next minute.
 */
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
