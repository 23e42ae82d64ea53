import { optionally } from './buckets.ts';
import type { S3Client } from './client.ts';
import { namespace, parseXml, strict, textOf } from './xml.ts';
import type { XmlElement } from '../../shared/documents/element.ts';
import { lifecycle } from '../../shared/documents/lifecycle.ts';
import { escapeXml, tag } from '../../shared/documents/text.ts';

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
  readonly xml: XmlElement;
}

export type LifecycleRule = SimpleRule | OtherRule;

const query = { lifecycle: '' };

export async function getLifecycle(client: S3Client, bucket: string): Promise<LifecycleRule[]> {
  const response = await optionally(client.send({ method: 'GET', bucket, query }));
  return response === undefined
    ? []
    : parseXml(await response.text(), strict)
        .many('Rule')
        .map(ruleOf);
}

/** Replaces the rules of a bucket; none: removes them. */
export async function putLifecycle(client: S3Client, bucket: string, rules: readonly LifecycleRule[]): Promise<void> {
  if (rules.length === 0) return void (await client.send({ method: 'DELETE', bucket, query }));
  const body = lifecycle.around(rules.map(written).join(''), namespace);
  await client.send({ method: 'PUT', bucket, query, body });
}

/** Reads a rule. One with an element that the form does not support, or that is not known here, is kept unchanged. */
function ruleOf(xml: XmlElement): LifecycleRule {
  const isEnabled = textOf(xml, 'Status') === 'Enabled';
  const other = { kind: 'other', name: textOf(xml, 'ID'), isEnabled, xml } as const;
  try {
    const { id = '', scope, expiration, noncurrent, abortDays } = lifecycle.content.item.read(xml);
    const { form, prefix = '', ...conditions } = scope;
    const hasDays = expiration === undefined || 'days' in expiration;
    const isSimple = form !== 'and' && Object.keys(conditions).length === 0 && hasDays;
    if (!isSimple || noncurrent?.newerVersions !== undefined || abortDays !== undefined) return other;
    return { kind: 'simple', name: id, prefix, days: expiration?.days, noncurrentDays: noncurrent?.days, isEnabled };
  } catch {
    return other;
  }
}

function written(rule: LifecycleRule): string {
  const status = rule.isEnabled ? 'Enabled' : 'Disabled';
  if (rule.kind === 'other') {
    // Everything is unchanged except the status.
    return tag(
      'Rule',
      rule.xml.children.map((each) => (each.name === 'Status' ? tag('Status', status) : copyOf(each))).join(''),
    );
  }
  const { name, prefix, days, noncurrentDays } = rule;
  return lifecycle.content.writeItem({
    id: name,
    status,
    scope: { form: 'filter', ...(prefix !== '' && { prefix }) },
    ...(days !== undefined && { expiration: { days } }),
    ...(noncurrentDays !== undefined && { noncurrent: { days: noncurrentDays } }),
  });
}

const copyOf = (xml: XmlElement): string =>
  tag(xml.name, xml.children.length > 0 ? xml.children.map(copyOf).join('') : escapeXml(xml.text));
