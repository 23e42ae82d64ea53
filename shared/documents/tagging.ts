import { compareUtf8 } from '../ports/utf8-order.ts';
import { documentType, elements, list, mapped, one, only, text, type ValueOf } from './schema.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_Tag.html */
export const tag = elements({ key: one('Key', text), value: one('Value', text) });
export type Tag = ValueOf<typeof tag>;

/** Tags, which are written in the order of the bytes of their keys. */
const tags = mapped(
  list('Tag', tag),
  (read) => read,
  (unsorted: readonly Tag[]) => unsorted.toSorted((a, b) => compareUtf8(a.key, b.key)),
);

/**
 * The tags of an object or a bucket, and the form field `tagging`.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_Tagging.html
 */
export const tagging = documentType('Tagging', only('TagSet', tags));
