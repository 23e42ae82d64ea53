import { S3Error } from '../../errors/s3-error.ts';
import { utf8Of } from '../../http/message.ts';
import { Query } from '../../http/query.ts';
import { checkTags, type TagLimits } from '../../xml/tagging.ts';

/**
 * Reads x-amz-tagging: `k1=v1&k2=v2` in form encoding.
 * @throws S3Error InvalidTag, InvalidArgument
 */
export function parseTaggingHeader(
  value: string | undefined,
  limits: TagLimits,
): readonly (readonly [key: string, value: string])[] {
  if (value === undefined || value === '') return [];
  const tags = parse(value).parameters.map(({ name, value: text }) => ({ key: name, value: text }));
  checkTags(tags, limits);
  return tags.map(({ key, value: text }) => [key, text] as const);
}

function parse(value: string): Query {
  try {
    return Query.parse(utf8Of(value));
  } catch (cause) {
    throw new S3Error('InvalidArgument', {
      message:
        'The header x-amz-tagging shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.',
      details: { ArgumentName: 'x-amz-tagging', ArgumentValue: value },
      cause,
    });
  }
}
