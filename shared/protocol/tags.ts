import { tagging, type Tag } from '../documents/tagging.ts';
import { S3Error } from '../errors/s3-error.ts';
import type { Attributes } from '../ports/key-value-table.ts';
import { readDocument, type XmlSource } from '../xml/reader.ts';

/** Returns the attributes of a bucket's document `tagging`. */
export function taggingOf(tags: readonly Tag[]): Attributes {
  return { tags: tags.map(({ key, value }) => [key, value]) };
}

/** Reads the tags from the attributes that {@link taggingOf} returns. */
export function tagsOf({ tags }: Attributes): readonly Tag[] {
  return (tags as readonly (readonly [key: string, value: string])[]).map(([key, value]) => ({ key, value }));
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

/** Reads tags as XML. @throws S3Error MalformedXML, InvalidTag */
export function readTagging(source: XmlSource, limits: TagLimits): readonly Tag[] {
  const tags = readDocument(source, tagging);
  checkTags(tags, limits);
  return tags;
}
