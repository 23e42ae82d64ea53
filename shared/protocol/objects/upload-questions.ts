import type { Question } from '../../access/authorise.ts';
import type { Fields } from '../../http/message.ts';

/**
 * Returns the questions about creating an object: whether the caller may put it, and set the requested tags and ACL. An
 * ACL of `private` is the default and needs no permission.
 *
 * An upload needs to be allowed the first and not to be denied the others, as in Ceph RGW; a copy needs to be allowed
 * all of them.
 *
 * @param fields the header fields, or the form's fields in their place
 * @param tags that the request gives to the object
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
