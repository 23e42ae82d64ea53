import type { Tags } from '../../shared/accounts/directory.ts';
import { list, otherwise, structure, text } from '../../shared/protocol/query-api/parameters.ts';
import { maxTags } from './quotas.ts';
import { invalidInput } from './refusals.ts';

/* The parameters that actions have in common: https://docs.aws.amazon.com/IAM/latest/APIReference/API_Types.html */

/** What names consist of. */
export const word = /^[\w+=,.@-]+$/;
export const nameText = (most: number) => text({ least: 1, most, form: word });
export const userName = nameText(64);
export const policyName = nameText(128);
export const path = otherwise('/', text({ least: 1, most: 512, form: /^(?:\/|\/[\x21-\x7e]+\/)$/ }));
export const pathPrefix = otherwise('/', text({ least: 1, most: 512, form: /^\/[\x21-\x7e]*$/ }));
export const arnText = text({ least: 20, most: 2048 });
/** A policy. Its own limits are stricter. */
export const documentText = text({ least: 1, most: 131_072 });
export const versionForm = /^v[1-9]\d{0,8}$/;
export const versionId = text({ form: versionForm });
export const keyId = text({ least: 16, most: 128, form: /^\w+$/ });

export const tagKeyForm = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]+$/u;
const tagKey = text({ least: 1, most: 128, form: tagKeyForm });
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

/** Names are the same whatever their case. */
export function byName({ name }: { readonly name: string }): string {
  return name.toLowerCase();
}
