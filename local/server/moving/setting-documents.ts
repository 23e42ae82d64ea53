import type { XmlElement } from '../../../shared/documents/element.ts';
import { escapeXml } from '../../../shared/documents/text.ts';
import { compareUtf8 } from '../../../shared/ports/utf8-order.ts';
import { parsedXml } from '../../../shared/xml/reader.ts';

/** An element as it is written again. */
interface Written {
  readonly name: string;
  readonly children: readonly Written[];
  /** Empty of an element with children. */
  readonly text: string;
}

/** Names that Ceph gives to roots. */
const aliases: Readonly<Record<string, string>> = {
  BlockPublicAccessBlockConfiguration: 'PublicAccessBlockConfiguration',
};

/**
 * Returns a setting of a bucket as S3 writes it, from what a store has answered; undefined if that is another document: Ceph lists the objects of
 * the bucket in place of a setting that it does not know.
 * @param root the name of the root of the document; undefined for JSON
 */
export function documentIn(text: string, root: string | undefined): string | undefined {
  if (root === undefined) return isXml(text) ? undefined : text;
  const found = isXml(text) ? writtenOf(parsedXml(text).root) : undefined;
  if (found === undefined || (aliases[found.name] ?? found.name) !== root) return undefined;
  const document = { ...found, name: root, children: found.children.map(withFilter) };
  return found.name === root && document.children.every((child, at) => child === found.children[at])
    ? text
    : textOf(document);
}

/** Returns a document without what two services write differently, and what means nothing. */
export function essence(text: string): string {
  return isXml(text) ? essenceOf(writtenOf(parsedXml(text).root)) : text.trim();
}

function isXml(text: string): boolean {
  return text.trimStart().startsWith('<');
}

function writtenOf(element: XmlElement): Written {
  const { name, children } = element;
  return { name, children: children.map(writtenOf), text: children.length > 0 ? '' : element.text };
}

/** Puts all conditions of a rule of a lifecycle into its And. Ceph leaves the prefix beside it. */
function withFilter(rule: Written): Written {
  const filter = rule.children.find(({ name }) => name === 'Filter');
  if (rule.name !== 'Rule' || filter === undefined || filter.children.length < 2) return rule;
  const conditions = filter.children.flatMap((child) => (child.name === 'And' ? child.children : [child]));
  const whole = { ...filter, children: [{ name: 'And', text: '', children: conditions }] };
  return { ...rule, children: rule.children.map((child) => (child === filter ? whole : child)) };
}

function textOf({ name, children, text }: Written): string {
  return `<${name}>${children.map(textOf).join('')}${escapeXml(text)}</${name}>`;
}

/** Elements of one name keep their order, which may decide; those of different names have none. Empty ones say nothing. */
function essenceOf({ name, children, text }: Written): string {
  const texts = children
    .toSorted((a, b) => compareUtf8(a.name, b.name))
    .map(essenceOf)
    .filter((one) => one !== '');
  if (texts.length > 0) return `${name}(${texts.join()})`;
  const value = name === 'Date' ? text.replace(/\.000Z$/, 'Z') : text;
  return value.trim() === '' ? '' : `${name}=${JSON.stringify(value)}`;
}
