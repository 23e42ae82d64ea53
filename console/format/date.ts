const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

const formats = new Map<
  string,
  {
    readonly relative: Intl.RelativeTimeFormat;
    readonly short: Intl.DateTimeFormat;
    readonly long: Intl.DateTimeFormat;
    readonly minute: Intl.DateTimeFormat;
  }
>();

function formatsOf(language: string) {
  const known = formats.get(language);
  if (known !== undefined) return known;
  const made = {
    relative: new Intl.RelativeTimeFormat(language, { numeric: 'auto' }),
    short: new Intl.DateTimeFormat(language, { year: 'numeric', month: 'short', day: 'numeric' }),
    long: new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long' }),
    minute: new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }),
  };
  formats.set(language, made);
  return made;
}

/** `3 minutes ago`, `yesterday`, `12 Mar 2025`: in words if the time is recent. */
export function formatDate(date: Date | number, language: string, now = Date.now()): string {
  const time = Number(date);
  if (Number.isNaN(time)) return '–';
  const { relative, short } = formatsOf(language);
  const seconds = (time - now) / 1000;
  const distance = Math.abs(seconds);
  // A time 23:59 hours ahead is in 24 hours; one 23:59 hours ago is 23 hours ago.
  const whole = seconds > 0 ? Math.round : Math.trunc;
  if (distance < minute) return relative.format(0, 'minute');
  if (distance < hour) return relative.format(whole(seconds / minute), 'minute');
  if (distance < day) return relative.format(whole(seconds / hour), 'hour');
  if (distance < 7 * day) return relative.format(whole(seconds / day), 'day');
  return short.format(time);
}

/** The complete date and time, for a title. */
export function formatExactDate(date: Date | number, language: string): string {
  return Number.isNaN(Number(date)) ? '' : formatsOf(language).long.format(date);
}

/** `22 Nov 2026, 14:05`: for tables. */
export function formatMinute(date: Date | number, language: string): string {
  return Number.isNaN(Number(date)) ? '' : formatsOf(language).minute.format(date);
}
