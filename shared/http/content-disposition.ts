import { utf8Of } from './message.ts';

const parameter = /;\s*(filename\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]+))/gi;
const extended = /^UTF-8'[^']*'(.*)$/i;

/**
 * The file name in the value of a Content-Disposition field (RFC 6266), whose bytes come as latin1 characters; undefined if it has
 * none. `filename*` wins over `filename`, as the RFC says. Only the last segment counts of what looks like a path.
 */
export function fileNameOf(value: string): string | undefined {
  const found = new Map<string, string>();
  for (const [, name, quoted, token] of value.matchAll(parameter)) {
    found.set(name!.toLowerCase(), quoted === undefined ? token! : quoted.replace(/\\(.)/g, '$1'));
  }
  const name = decoded(found.get('filename*')) ?? plain(found.get('filename'));
  return name === undefined ? undefined : baseName(name);
}

/** What is behind the last slash or backslash; undefined if that is nothing. */
export function baseName(path: string): string | undefined {
  return path.split(/[/\\]/).at(-1) || undefined;
}

/**
 * The value by which a browser saves an answer as a file of this name and shows it nowhere: in ASCII for old clients and, where
 * that is not the whole name, in UTF-8 (RFC 6266 §4.3, RFC 8187).
 */
export function attachment(name: string): string {
  const ascii = name.replace(/[^ -~]|["\\%]/gu, '_');
  const fallback = `attachment; filename="${ascii}"`;
  return ascii === name ? fallback : `${fallback}; filename*=UTF-8''${extendedValue(name)}`;
}

/** Percent-encodes all but the `attr-char` of RFC 8187. */
function extendedValue(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

function decoded(value: string | undefined): string | undefined {
  const text = value === undefined ? undefined : extended.exec(value)?.[1];
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Clients leave UTF-8 in it, which nothing allows and browsers read. */
function plain(value: string | undefined): string | undefined {
  return value === undefined ? undefined : utf8Of(value);
}
