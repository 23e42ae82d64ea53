import type { Question, StatedFacts } from '../../access/authorise.ts';
import type { Fields } from '../../http/message.ts';
import type { ObjectAttributes } from '../../storage/versions/object-attributes.ts';
import { conditionFacts, describedBy } from '../authorisation/policy-facts.ts';

/** An object, or one of its versions. */
export interface Place {
  readonly bucket: string;
  readonly key: string;
  readonly versionId?: string | undefined;
}

/** Returns the question whether the caller may read an object or a version. */
export function readQuestion({ bucket, key, versionId }: Place): Question {
  if (versionId === undefined) return { action: 'GetObject', bucket, key };
  return { action: 'GetObjectVersion', bucket, key, versionId };
}

/**
 * Returns the questions about creating an object: whether the caller may put it, and set the requested tags and ACL. An
 * ACL of `private` is the default and needs no permission.
 *
 * An upload needs to be allowed the first and not to be denied the others, as in Ceph RGW; a copy needs to be allowed
 * all of them. Either needs to be allowed to lock it.
 *
 * @param fields the header fields, or the form's fields in their place
 * @param tags that the request gives to the object
 * @param more.isCopy whether the object is a copy
 * @param more.facts that policies may know besides
 */
export function uploadQuestions(
  { bucket, key }: { readonly bucket: string; readonly key: string },
  fields: Fields,
  tags: ObjectAttributes['tags'],
  { isCopy = false, facts }: { readonly isCopy?: boolean; readonly facts?: StatedFacts } = {},
): readonly Question[] {
  const all = { ...describedBy(fields), ...conditionFacts(fields), ...creates(true), ...facts };
  const place = { bucket, key, facts: all, tags: () => tags };
  const made = { ...place, ...(isCopy ? { isNew: true as const } : { unlessDenied: true as const }) };
  return [
    { action: 'PutObject', ...place },
    ...(tags.length > 0 ? [{ action: 'PutObjectTagging' as const, ...made }] : []),
    ...(fields.has('x-amz-object-lock-mode') ? [{ action: 'PutObjectRetention' as const, ...place }] : []),
    ...(fields.has('x-amz-object-lock-legal-hold') ? [{ action: 'PutObjectLegalHold' as const, ...place }] : []),
    ...(givesAcl(fields) ? [{ action: 'PutObjectAcl' as const, ...made }] : []),
  ];
}

/** Returns the fact whether an upload creates an object, or a part or an upload that is to become one. */
export function creates(anObject: boolean): StatedFacts {
  return { 's3:objectcreationoperation': String(anObject) };
}

function givesAcl(fields: Fields): boolean {
  if ((fields.get('x-amz-acl') ?? 'private') !== 'private') return true;
  return [...fields.names()].some((name) => name.startsWith('x-amz-grant-'));
}
