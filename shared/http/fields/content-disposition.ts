import { utf8Of } from '../message.ts';

const parameter = /;\s*(filename\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";,]+))/gi;
const extended = /^UTF-8'[^']*'(.*)$/i;

/**
 * Returns the file name in a Content-Disposition field (RFC 6266), whose bytes are given as latin1 characters, or
 * undefined. `filename*` takes precedence over `filename`, as the RFC requires. Returns only the last segment of a
 * path.
 */
export function fileNameOf(value: string): string | undefined {
  const found = new Map<string, string>();
  for (const [, name, quoted, token] of value.matchAll(parameter)) {
    found.set(name!.toLowerCase(), quoted === undefined ? token! : quoted.replace(/\\(.)/g, '$1'));
  }
  const name = decoded(found.get('filename*')) ?? plain(found.get('filename'));
  return name === undefined ? undefined : baseName(name);
}

/** Returns the part of a path after the last slash or backslash, or undefined if it is empty. */
export function baseName(path: string): string | undefined {
  return path.split(/[/\\]/).at(-1) || undefined;
}

/**
 * Returns the field value that makes a browser save a response under this name and not display it: in ASCII for old
 * clients and also in UTF-8 if the name is not ASCII (RFC 6266 §4.3, RFC 8187).
 */
export function attachment(name: string): string {
  const ascii = name.replace(/[^ -~]|["\\%]/gu, '_');
  const fallback = `attachment; filename="${ascii}"`;
  return ascii === name ? fallback : `${fallback}; filename*=UTF-8''${extendedValue(name)}`;
}

/** Percent-encodes all characters except the `attr-char` of RFC 8187. */
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

/** Decodes UTF-8 in a plain parameter, which no standard allows but clients send and browsers accept. */
function plain(value: string | undefined): string | undefined {
  return value === undefined ? undefined : utf8Of(value);
}
