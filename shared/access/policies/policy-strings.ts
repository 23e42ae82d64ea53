import { malformedPolicy } from './malformed-policy.ts';
import type { Json } from './strict-json.ts';

/**
 * Reads a string or a non-empty list of strings.
 * @param element of the statement, for the error
 * @throws S3Error MalformedPolicy
 */
export function readStrings(json: Json, element: string): readonly string[] {
  const list = Array.isArray(json) ? (json as readonly Json[]) : [json];
  if (list.length === 0 || !list.every((one) => typeof one === 'string')) {
    throw malformedPolicy(`${element} must be a string or a non-empty list of strings`);
  }
  return list;
}
