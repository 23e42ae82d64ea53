import { S3Error } from '../errors/s3-error.ts';
import { compareUtf8 } from '../ports/utf8-order.ts';
import { readDocument, type XmlElement, type XmlSource } from './reader.ts';
import { document } from './writer.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_Tag.html */
export interface Tag {
  readonly key: string;
  readonly value: string;
}

/** The maximum number of tags, and the maximum lengths of keys and values in Unicode characters. */
export interface TagLimits {
  readonly tags: number;
  readonly keyCharacters: number;
  readonly valueCharacters: number;
}

const allowed = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

/**
 * Checks tags from any source (document, x-amz-tagging, form field).
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-tagging.html
 * @throws S3Error InvalidTag
 */
export function checkTags(tags: readonly Tag[], limits: TagLimits): void {
  const { keyCharacters, valueCharacters } = limits;
  if (tags.length > limits.tags) throw invalidTag(`There may be at most ${limits.tags} tags.`);
  const seen = new Set<string>();
  for (const { key, value } of tags) {
    if (key === '' || isLonger(key, keyCharacters)) {
      throw invalidTag(`A tag key must have 1 to ${keyCharacters} characters.`, key);
    }
    if (isLonger(value, valueCharacters)) {
      throw invalidTag(`A tag value must have at most ${valueCharacters} characters.`, key);
    }
    if (!allowed.test(key) || !allowed.test(value)) {
      throw invalidTag('Tags may hold letters, digits, spaces and + - = . _ : / @ only.', key);
    }
    if (/^aws:/i.test(key)) throw invalidTag('Tag keys must not begin with aws:.', key);
    if (seen.has(key)) throw invalidTag('Tag keys must be unique.', key);
    seen.add(key);
  }
}

/** Tells whether a text has more characters than allowed, without counting those of a text that is far too long. */
function isLonger(text: string, maximum: number): boolean {
  return text.length > 2 * maximum || [...text].length > maximum;
}

function invalidTag(message: string, key?: string): S3Error {
  return new S3Error('InvalidTag', { message, details: key === undefined ? {} : { TagKey: key } });
}

/**
 * Reads `<Tagging>`, the body of PutObjectTagging and PutBucketTagging and the form field `tagging`.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_Tagging.html
 * @throws S3Error MalformedXML, InvalidTag
 */
export function readTagging(body: XmlSource, limits: TagLimits): readonly Tag[] {
  const tagging = readDocument(body, 'Tagging').onlyChildren('TagSet');
  const tags = tagging.one('TagSet').onlyChildren('Tag').children.map(readTag);
  checkTags(tags, limits);
  return tags;
}

/** Reads one `<Tag>` without checking it. */
export function readTag(tag: XmlElement): Tag {
  tag.onlyChildren('Key', 'Value');
  return { key: tag.one('Key').text, value: tag.one('Value').text };
}

/** Returns the response body of GetObjectTagging and GetBucketTagging: the tags ordered by the bytes of their keys. */
export function taggingDocument(tags: readonly Tag[], namespace: string): string {
  const sorted = tags.toSorted((a, b) => compareUtf8(a.key, b.key));
  return document('Tagging', namespace, {
    TagSet: { Tag: sorted.map(({ key, value }) => ({ Key: key, Value: value })) },
  });
}
