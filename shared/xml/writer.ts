import { day } from '../ports/durations.ts';

/**
 * Writes S3's documents from plain data: an object's properties become elements in order, an array repeats its element,
 * undefined omits it, and Markup is inserted as it is.
 */

/** XML that is already written. */
export class Markup {
  readonly xml: string;

  constructor(xml: string) {
    this.xml = xml;
  }
}

/** The content of an element. */
export type XmlContent = string | number | boolean | Markup | XmlElements | readonly Markup[];

/** Elements by name, in order. */
export interface XmlElements {
  readonly [name: string]: XmlContent | readonly XmlContent[] | undefined;
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** Returns a whole document. S3's root elements have a namespace, except `<Error>`. */
export function document(root: string, namespace: string | undefined, content: XmlContent): string {
  return declaration + element(root, content, namespace === undefined ? {} : { xmlns: namespace }).xml;
}

/** Returns one element, for content whose order or attributes an object cannot express. */
export function element(name: string, content: XmlContent, attributes: Readonly<Record<string, string>> = {}): Markup {
  let start = name;
  for (const [attribute, value] of Object.entries(attributes)) start += ` ${attribute}="${escapeXml(value)}"`;
  const inner = render(content);
  return new Markup(inner === '' ? `<${start}/>` : `<${start}>${inner}</${name}>`);
}

/** The last day written, up to its `T`. A page of a listing has a thousand times but only a few days. */
let lastDay = { start: NaN, text: '' };
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** Returns a time as in S3's documents: ISO 8601, UTC, with milliseconds. */
export function timestamp(milliseconds: number): string {
  const start = Math.floor(milliseconds / day) * day;
  if (start !== lastDay.start) lastDay = { start, text: new Date(start).toISOString().slice(0, 'yyyy-mm-ddT'.length) };
  const rest = milliseconds - start;
  const seconds = Math.floor(rest / 1000);
  const minutes = Math.floor(seconds / 60);
  const clock = `${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}`;
  return `${lastDay.text}${clock}.${String(rest % 1000).padStart(3, '0')}Z`;
}

/** Returns an entity tag as in S3's documents. */
export function quoted(etag: string): string {
  return `"${etag}"`;
}

function render(content: XmlContent): string {
  if (typeof content === 'string') return escapeXml(content);
  if (typeof content === 'number' || typeof content === 'boolean') return String(content);
  if (content instanceof Markup) return content.xml;
  if (isList(content)) return content.map((markup) => markup.xml).join('');
  let xml = '';
  for (const [name, value] of Object.entries(content)) {
    if (value === undefined) continue;
    if (isList(value)) for (const one of value) xml += element(name, one).xml;
    else xml += element(name, value).xml;
  }
  return xml;
}

/** Narrows readonly arrays, unlike `Array.isArray`. */
function isList<Item>(content: readonly Item[] | object | string | number | boolean): content is readonly Item[] {
  return Array.isArray(content);
}

// Matches control characters on purpose.
// eslint-disable-next-line no-control-regex
const suspicious = /[&<>"\u0000-\u001f\ud800-\udfff\ufffe\uffff]/;
// eslint-disable-next-line no-control-regex
const unsafe = /[&<>"\u0000-\u001f\p{Surrogate}\ufffe\uffff]/gu;

const predefined: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Escapes text for element content and attribute values.
 *
 * Writes control characters, U+FFFE and U+FFFF as numeric references, although XML 1.0 does not allow most of them: S3
 * does the same, lenient parsers restore the key, and clients can ask for encoding-type=url. CR, LF and TAB become
 * references because parsers normalise the raw characters. NUL and unpaired surrogates cannot occur in a UTF-8 key and
 * become U+FFFD.
 */
export function escapeXml(text: string): string {
  return suspicious.test(text) ? text.replace(unsafe, escapeCharacter) : text;
}

// eslint-disable-next-line no-control-regex -- matches control characters on purpose
const notInXml = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\p{Surrogate}\ufffe\uffff]/u;

/** Tells whether XML can carry a text: https://www.w3.org/TR/xml/#charsets */
export function isXmlText(text: string): boolean {
  return !notInXml.test(text);
}

function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (code === 0 || (code >= 0xd800 && code <= 0xdfff)) return '\ufffd';
  return predefined[character] ?? (code === 13 ? '&#13;' : `&#x${code.toString(16).toUpperCase()};`);
}
