/**
 * An element of a document. Text is that of the element itself. The reader takes what the service sends, and is not one for
 * documents of strangers; unlike DOMParser it knows references to control characters, which keys may contain.
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

  /** The text of the first child of this name; of none, the empty text. */
  textOf(name: string): string {
    return this.find(name)?.text ?? '';
  }

  /** The text of the first child of this name, if there is one. */
  optional(name: string): string | undefined {
    return this.find(name)?.text;
  }
}

const token = /<(\/?)([^\s/>!?]+)([^>]*)>|<[!?][^>]*>|([^<]+)/g;
const attribute = /([\w:.-]+)="([^"]*)"/g;

/** Reads a document and returns its root. @throws Error if it has none. */
export function parseXml(source: string): Xml {
  const document = new Xml('', {});
  const path = [document];
  for (const [, closing, name, rest, text] of source.matchAll(token)) {
    const parent = path[path.length - 1]!;
    if (text !== undefined) {
      parent.text += unescapeXml(text);
    } else if (closing === '/') {
      if (path.length > 1) path.pop();
    } else if (name !== undefined) {
      const pairs = [...rest!.matchAll(attribute)].map(([, key, value]) => [key!, unescapeXml(value!)] as const);
      const element = new Xml(name, Object.fromEntries(pairs));
      parent.children.push(element);
      if (!rest!.endsWith('/')) path.push(element);
    }
  }
  const root = document.children[0];
  if (root === undefined) throw new Error('The service sent no XML.');
  return root;
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
export type Tree = readonly [name: string, content: string | number | boolean | readonly (Tree | undefined)[], attributes?: string];

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
export function escapeXml(text: string): string {
  return text.replace(/[&<>"'\u0000-\u001f]/g, (char) => `&#${char.charCodeAt(0)};`);
}
