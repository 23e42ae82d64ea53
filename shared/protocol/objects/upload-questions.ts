import type { Question } from '../../access/authorise.ts';
import type { Fields } from '../../http/message.ts';

/**
 * What whoever makes an object must be allowed: to put it, and to give it the tags and the ACL that the request gives it.
 * An ACL of `private` is what an object has anyway.
 *
 * Whoever uploads needs to be allowed the first, as in Ceph RGW, and not to be denied the others; a copy needs all of them.
 *
 * @param fields the header fields, or what a form says in their place
 * @param tags those that the object will have because the request says so
 */
export function uploadQuestions(
  { bucket, key }: { readonly bucket: string; readonly key: string },
  fields: Fields,
  tags: readonly unknown[],
  { isCopy = false } = {},
): readonly Question[] {
  const place = { bucket, key };
  const made = { ...place, ...(isCopy ? { isNew: true as const } : { unlessDenied: true as const }) };
  return [
    { action: 'PutObject', ...place },
    ...(tags.length > 0 ? [{ action: 'PutObjectTagging', ...made }] : []),
    ...(givesAcl(fields) ? [{ action: 'PutObjectAcl', ...made }] : []),
  ];
}

function givesAcl(fields: Fields): boolean {
  if ((fields.get('x-amz-acl') ?? 'private') !== 'private') return true;
  return [...fields.names()].some((name) => name.startsWith('x-amz-grant-'));
}
