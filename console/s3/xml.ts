/**
 * An element of a document. Its text excludes that of children. The reader is only for documents of the service, not for untrusted ones;
 * unlike DOMParser it accepts references to control characters, which keys may contain.
 */
export class Xml {
  text = '';
  readonly children: Xml[] = [];
  readonly attributes: Readonly<Record<string, string>>;
  readonly name: string;

  constructor(name: string, attributes: Readonly<Record<string, string>>) {
    this.name = name;
    this.attributes = attributes;
  }

  /** The first child of this name. */
  find(name: string): Xml | undefined {
    return this.children.find((child) => child.name === name);
  }

  /** All children of this name. */
  all(name: string): Xml[] {
    return this.children.filter((child) => child.name === name);
  }

  /** The text of the first child of this name, or the empty string. */
  textOf(name: string): string {
    return this.find(name)?.text ?? '';
  }

  /** The text of the first child of this name, if there is one. */
  optional(name: string): string | undefined {
    return this.find(name)?.text;
  }
}

/** Reads a document and returns its root. @throws Error if it has none. */
export function parseXml(source: string): Xml {
  const document = new Xml('', {});
  const path = [document];
  for (let at = 0; at < source.length;) {
    const parent = path[path.length - 1]!;
    if (source[at] !== '<') {
      const end = endOf(source, '<', at);
      parent.text += unescapeXml(source.slice(at, end));
      at = end;
      continue;
    }
    const end = endOf(source, '>', at);
    const tag = source.slice(at + 1, end);
    at = end + 1;
    if (tag.startsWith('?') || tag.startsWith('!')) continue;
    if (tag.startsWith('/')) {
      if (path.length > 1) path.pop();
      continue;
    }
    const isEmpty = tag.endsWith('/');
    const element = elementOf(isEmpty ? tag.slice(0, -1) : tag);
    parent.children.push(element);
    if (!isEmpty) path.push(element);
  }
  const root = document.children[0];
  if (root === undefined) throw new Error('The service sent no XML.');
  return root;
}

function endOf(source: string, char: string, from: number): number {
  const end = source.indexOf(char, from);
  return end < 0 ? source.length : end;
}

/** Reads `name a="1" b="2"`. */
function elementOf(tag: string): Xml {
  const [head = '', ...values] = tag.split('"');
  const [name = '', first = ''] = head.split(' ', 2);
  const attributes: Record<string, string> = {};
  let next = first;
  for (let index = 0; index < values.length; index += 2) {
    if (next.endsWith('=')) attributes[next.slice(0, -1)] = unescapeXml(values[index] ?? '');
    next = (values[index + 1] ?? '').trim();
  }
  return new Xml(name, attributes);
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x([\da-fA-F]{1,6})|#(\d{1,7})|(\w{2,4}));/g, (whole, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(parseInt(hex as string, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return entities[name as string] ?? whole;
  });
}

/** A document to send: an element's name, and its text or its children. `undefined` children are left out. */
export type Tree = readonly [
  name: string,
  content: string | number | boolean | readonly (Tree | undefined)[],
  attributes?: string,
];

const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** Writes a document, with the namespace of S3 at its root. */
export function writeXml([name, content]: Tree): string {
  return `<?xml version="1.0" encoding="UTF-8"?>${element([name, content, ` xmlns="${namespace}"`])}`;
}

function element([name, content, attributes = '']: Tree): string {
  const inside = Array.isArray(content)
    ? (content as readonly (Tree | undefined)[]).map((child) => (child ? element(child) : '')).join('')
    : escapeXml(String(content));
  return `<${name}${attributes}>${inside}</${name}>`;
}

/** Escapes text; control characters as references, as the service reads them. */
function escapeXml(text: string): string {
  return text.replace(/[&<>"'\p{Cc}]/gu, (char) => `&#${char.charCodeAt(0)};`);
}
