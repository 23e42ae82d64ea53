import { optionally } from './buckets.ts';
import type { S3Client } from './client.ts';
import { parseXml, writeXml, type Tree, type Xml } from './xml.ts';

/** A rule that the form can show: name, scope, two numbers of days, on or off. */
export interface SimpleRule {
  readonly kind: 'simple';
  readonly name: string;
  /** Empty: the whole bucket. */
  readonly prefix: string;
  /** Days until the current version expires; nothing: never. */
  readonly days: number | undefined;
  /** Days until a noncurrent version is deleted; nothing: never. */
  readonly noncurrentDays: number | undefined;
  readonly isEnabled: boolean;
}

/** A rule, created through the API, that the form does not support. It is shown, and kept unchanged. */
interface OtherRule {
  readonly kind: 'other';
  readonly name: string;
  readonly isEnabled: boolean;
  readonly xml: Xml;
}

export type LifecycleRule = SimpleRule | OtherRule;

const query = { lifecycle: '' };

export async function getLifecycle(client: S3Client, bucket: string): Promise<LifecycleRule[]> {
  const response = await optionally(client.send({ method: 'GET', bucket, query }));
  return response === undefined
    ? []
    : parseXml(await response.text())
        .all('Rule')
        .map(ruleOf);
}

/** Replaces the rules of a bucket; none: removes them. */
export async function putLifecycle(client: S3Client, bucket: string, rules: readonly LifecycleRule[]): Promise<void> {
  if (rules.length === 0) return void (await client.send({ method: 'DELETE', bucket, query }));
  const body = writeXml(['LifecycleConfiguration', rules.map(treeOf)]);
  await client.send({ method: 'PUT', bucket, query, body });
}

/** Reads a rule. One with an element that the form does not support is kept unchanged. */
function ruleOf(xml: Xml): LifecycleRule {
  const name = xml.textOf('ID');
  const isEnabled = xml.textOf('Status') === 'Enabled';
  const filter = xml.find('Filter');
  const expiration = xml.find('Expiration');
  const noncurrent = xml.find('NoncurrentVersionExpiration');
  const only = (element: Xml | undefined, ...names: readonly string[]): boolean =>
    element === undefined || element.children.every((child) => names.includes(child.name));
  const isSimple =
    only(xml, 'ID', 'Status', 'Filter', 'Prefix', 'Expiration', 'NoncurrentVersionExpiration') &&
    only(filter, 'Prefix') &&
    only(expiration, 'Days') &&
    only(noncurrent, 'NoncurrentDays');
  if (!isSimple) return { kind: 'other', name, isEnabled, xml };
  const days = (element: Xml | undefined, child: string): number | undefined =>
    element === undefined ? undefined : Number(element.textOf(child));
  return {
    kind: 'simple',
    name,
    prefix: filter?.textOf('Prefix') ?? xml.textOf('Prefix'),
    days: days(expiration, 'Days'),
    noncurrentDays: days(noncurrent, 'NoncurrentDays'),
    isEnabled,
  };
}

function treeOf(rule: LifecycleRule): Tree {
  const status: Tree = ['Status', rule.isEnabled ? 'Enabled' : 'Disabled'];
  if (rule.kind === 'other') {
    // Everything is unchanged except the status.
    return ['Rule', rule.xml.children.map((child) => (child.name === 'Status' ? status : copyOf(child)))];
  }
  return [
    'Rule',
    [
      ['ID', rule.name],
      ['Filter', rule.prefix === '' ? [] : [['Prefix', rule.prefix]]],
      status,
      rule.days === undefined ? undefined : ['Expiration', [['Days', rule.days]]],
      rule.noncurrentDays === undefined
        ? undefined
        : ['NoncurrentVersionExpiration', [['NoncurrentDays', rule.noncurrentDays]]],
    ],
  ];
}

const copyOf = (xml: Xml): Tree => [xml.name, xml.children.length > 0 ? xml.children.map(copyOf) : xml.text];
