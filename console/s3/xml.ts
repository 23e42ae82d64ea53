import { XmlElement, type Reading } from '../../shared/documents/element.ts';
import type { DocumentType } from '../../shared/documents/schema.ts';

/** What this version does not know, the service may send all the same. */
const lenient: Reading = {
  isStrict: false,
  fault: (reason) => new Error(reason),
  refusal: (_, message) => new Error(message),
};

/** As the service reads what it is sent. */
export const strict: Reading = { ...lenient, isStrict: true };

interface Open {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: XmlElement[];
  text: string;
}

/**
 * Reads a document and returns its root. Only for documents of the service, not for untrusted ones; unlike DOMParser it accepts references to
 * control characters, which keys may contain.
 * @throws Error if it has none
 */
export function parseXml(source: string, reading = lenient): XmlElement {
  const document = opened('');
  const path = [document];
  const close = ({ name, attributes, children, text }: Open): void => {
    path.at(-1)!.children.push(new XmlElement(name, attributes, children, children.length > 0 ? '' : text, reading));
  };
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
      if (path.length > 1) close(path.pop()!);
      continue;
    }
    const isEmpty = tag.endsWith('/');
    const element = opened(isEmpty ? tag.slice(0, -1) : tag);
    if (isEmpty) close(element);
    else path.push(element);
  }
  while (path.length > 1) close(path.pop()!);
  const root = document.children[0];
  if (root === undefined) throw new Error('The service sent no XML.');
  return root;
}

function endOf(source: string, char: string, from: number): number {
  const end = source.indexOf(char, from);
  return end < 0 ? source.length : end;
}

/** Reads `name a="1" b="2"`. */
function opened(tag: string): Open {
  const [head = '', ...values] = tag.split('"');
  const [name = '', first = ''] = head.split(' ', 2);
  const attributes = new Map<string, string>();
  let next = first;
  for (let index = 0; index < values.length; index += 2) {
    if (next.endsWith('=')) attributes.set(next.slice(0, -1).replace(/^.*:/, ''), unescapeXml(values[index] ?? ''));
    next = (values[index + 1] ?? '').trim();
  }
  return { name, attributes, children: [], text: '' };
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

/** Returns the text of the child of this name, or the empty string. */
export const textOf = (xml: XmlElement | undefined, name: string): string => xml?.optional(name)?.text ?? '';

export const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';

/** Returns a document to send. */
export const writeXml = <Value>(type: DocumentType<Value>, value: Value): string => type.write(value, namespace);
