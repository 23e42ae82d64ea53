/** Returns a time as a field of type `datetime-local` holds it: of the local clock, to the minute. */
export function localTime(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
