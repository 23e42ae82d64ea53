import type { XmlElement } from '../../../shared/documents/element.ts';
import { escapeXml } from '../../../shared/documents/text.ts';
import { parsedXml } from '../../../shared/xml/reader.ts';

/** A document in which one thing was changed. */
export interface Mutation {
  /** The changed element: `CORSRule/ID`. */
  readonly path: string;
  /** What was done to it. */
  readonly change: string;
  readonly document: string;
}

interface Node {
  name: string;
  readonly attributes: ReadonlyMap<string, string>;
  text: string;
  children: Node[];
}

/** What may stand in an element of text, by what it is called in the goldens. */
const texts: Readonly<Record<string, string>> = {
  spaces: ' ',
  padded: ' 1 ',
  word: 'word',
  'word in two lines': 'a\rb',
  'C1 control': 'a\u0085b',
  'not ASCII': 'é',
  'exclamation mark': 'a!b',
  slash: 'a/b',
  colon: 'a:b',
  '0': '0',
  '1': '1',
  '-1': '-1',
  '+2': '+2',
  '1.5': '1.5',
  '101': '101',
  '299': '299',
  '300': '300',
  '404': '404',
  '2³¹': '2147483648',
  '2⁵³': '9007199254740992',
  true: 'true',
  False: 'False',
  day: '2030-01-02',
  noon: '2030-01-02T12:00:00Z',
  'HTTP date': 'Wed, 02 Jan 2030 00:00:00 GMT',
  '**': 'a*b*c',
  quoted: '"x"',
  http: 'http',
  PUT: 'PUT',
  enabled: 'enabled',
  'aws:kms': 'aws:kms',
  'aws:tag': 'aws:tag',
  '129 characters': '𐐀'.repeat(129),
  '256 characters': '𐐀'.repeat(256),
  '257 characters': 'v'.repeat(257),
  '1025 bytes': 'v'.repeat(1025),
};

function treeOf(element: XmlElement | Node): Node {
  const { name, attributes, children } = element;
  return { name, attributes, text: children.length > 0 ? '' : element.text, children: children.map(treeOf) };
}

function written({ name, attributes, text, children }: Node): string {
  const started = [...attributes].map(([attribute, value]) => ` ${attribute}="${escapeXml(value)}"`).join('');
  return `<${name}${started}>${escapeXml(text)}${children.map(written).join('')}</${name}>`;
}

/** Every change of one element. */
export function* mutationsOf(document: string): Generator<Mutation> {
  const { root } = parsedXml(document);
  function* at(path: readonly number[]): Generator<Mutation> {
    const changed = (change: string, mutate: (element: Node, parent: Node | undefined, place: number) => void) => {
      const copy = treeOf(root);
      let element = copy;
      let parent: Node | undefined;
      const names = [];
      for (const place of path) {
        parent = element;
        element = element.children[place]!;
        names.push(element.name);
      }
      mutate(element, parent, path.at(-1) ?? 0);
      return { path: names.join('/') || '.', change, document: written(copy) };
    };
    const original = path.reduce<XmlElement>((element, place) => element.children[place]!, root);
    yield changed('nothing', () => undefined);
    yield changed('renamed', (element) => (element.name = 'Other'));
    yield changed('empty', (element) => {
      element.text = '';
      element.children = [];
    });
    yield changed('with another element', (element) => {
      element.text = '';
      element.children.push({ name: 'Other', attributes: new Map(), text: '', children: [] });
    });
    yield changed('reversed', (element) => element.children.reverse());
    if (original.attributes.size > 0) {
      yield changed('without attributes', (element) => Object.assign(element, { attributes: new Map() }));
      yield changed('with other attributes', (element) =>
        Object.assign(element, { attributes: new Map([['type', 'toString']]) }),
      );
    }
    if (path.length > 0) {
      yield changed('absent', (_, parent, place) => parent!.children.splice(place, 1));
      yield changed('twice', (element, parent, place) => parent!.children.splice(place, 0, treeOf(element)));
      yield changed('11 times', (element, parent, place) =>
        parent!.children.splice(place, 0, ...Array.from({ length: 10 }, () => treeOf(element))),
      );
    }
    if (original.children.length === 0) {
      for (const [change, text] of Object.entries(texts)) yield changed(change, (element) => (element.text = text));
    } else {
      yield changed('text instead of elements', (element) => Object.assign(element, { text: 'word', children: [] }));
    }
    for (const place of original.children.keys()) yield* at([...path, place]);
  }
  yield* at([]);
}
