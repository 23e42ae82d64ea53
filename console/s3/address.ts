/** Query parameters before encoding; those without a value are the empty string. Absent ones are omitted. */
export type Query = Readonly<Record<string, string | undefined>>;

/** Percent-encodes all but letters, digits, `-`, `.`, `_` and `~`, as signatures require. */
export function uriEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Encodes a path, keeping its slashes. A segment `.` or `..` would be removed by the browser, in whatever encoding it comes:
 * {@link isUnreachable}.
 */
export const encodePath = (path: string): string => path.split('/').map(uriEncode).join('/');

/** Returns whether browsers cannot send this key in a path, because they resolve `.` and `..` first. */
export const isUnreachable = (key: string): boolean =>
  key.split('/').some((segment) => segment === '.' || segment === '..');

/** Encodes a query as signatures require: sorted by name, always with `=`. */
export function encodeQuery(query: Query): string {
  return Object.entries(query)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, value]) => [uriEncode(name), uriEncode(value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}
