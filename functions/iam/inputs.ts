import type { Tags } from '../../shared/accounts/directory.ts';
import { list, number, optional, otherwise, structure, text } from '../../shared/protocol/query-api/parameters.ts';
import { maxTags } from './quotas.ts';
import { invalidInput } from './refusals.ts';

/* The parameters that actions have in common: https://docs.aws.amazon.com/IAM/latest/APIReference/API_Types.html */

const word = /^[\w+=,.@-]+$/;
export const nameText = (most: number) => text({ least: 1, most, form: word });
export const userName = nameText(64);
export const policyName = nameText(128);
export const path = otherwise('/', text({ least: 1, most: 512, form: /^(?:\/|\/[\x21-\x7e]+\/)$/ }));
export const pathPrefix = otherwise('/', text({ least: 1, most: 512, form: /^\/[\x21-\x7e]*$/ }));
export const arnText = text({ least: 20, most: 2048 });
/** A policy. Its own limits are stricter. */
export const documentText = text({ least: 1, most: 131_072 });
export const versionId = text({ form: /^v[1-9]\d{0,8}$/ });
export const keyId = text({ least: 16, most: 128, form: /^\w+$/ });

const tagKey = text({ least: 1, most: 128, form: /^[\p{L}\p{Z}\p{N}_.:/=+\-@]+$/u });
const tagValue = text({ most: 256, form: /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u });
export const tagList = list(structure({ Key: tagKey, Value: tagValue }), maxTags);
export const tags = otherwise([], tagList);
export const tagKeys = list(tagKey, maxTags);

/** @throws S3Error InvalidInput */
export function readTags(given: readonly { readonly Key: string; readonly Value: string }[]): Tags {
  const keys = new Set(given.map(({ Key }) => Key.toLowerCase()));
  if (keys.size < given.length)
    throw invalidInput('Duplicate tag keys found. Please note that Tag keys are case insensitive.');
  if ([...keys].some((key) => key.startsWith('aws:'))) throw invalidInput('Tag keys must not begin with aws:');
  return given.map(({ Key, Value }) => [Key, Value] as const);
}

/** The parameters of a listing. */
export const paging = {
  Marker: optional(text({ least: 1, most: 1000 })),
  MaxItems: otherwise(100, number({ least: 1, most: 1000 })),
};

interface Paging {
  readonly Marker: string | undefined;
  readonly MaxItems: number;
}

/** What each listing returns besides its items. */
interface Page<One> {
  readonly items: readonly One[];
  readonly IsTruncated: boolean;
  readonly Marker: string | undefined;
}

/** Returns a page. @param orderOf what the items are sorted by: for each another */
export function pageOf<One>(
  all: readonly One[],
  orderOf: (one: One) => string,
  { Marker, MaxItems }: Paging,
): Page<One> {
  const after = Marker === undefined ? '' : Buffer.from(Marker, 'base64url').toString();
  const rest = all
    .map((one) => ({ one, order: orderOf(one) }))
    .filter(({ order }) => order > after)
    .toSorted((a, b) => (a.order < b.order ? -1 : 1));
  const page = rest.slice(0, MaxItems);
  const IsTruncated = rest.length > page.length;
  return {
    items: page.map(({ one }) => one),
    IsTruncated,
    Marker: IsTruncated ? Buffer.from(page.at(-1)!.order).toString('base64url') : undefined,
  };
}

/** Names are sorted whatever their case. */
export function byName({ name }: { readonly name: string }): string {
  return name.toLowerCase();
}
