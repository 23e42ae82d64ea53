import { invalidArgument } from '../../shared/errors/s3-error.ts';
import { parseDelimiter, parsePageSize } from '../../shared/http/listing-parameters.ts';
import type { Query } from '../../shared/http/query.ts';
import { parseEncodingType } from '../../shared/http/url-encoding.ts';
import { readListingToken, writeListingToken } from '../../shared/storage/listings/listing-token.ts';
import { listObjects } from '../../shared/storage/listings/object-listing.ts';
import { ObjectRowsXml } from '../../shared/protocol/objects/listed-objects.ts';
import { factsFrom } from '../../shared/protocol/authorisation/policy-facts.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { listObjectsV2Result } from '../../shared/xml/listings.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html */
export const listObjectsV2 = defineOperation({
  name: 'ListObjectsV2',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  isListing: true,

  parse: ({ bucket, query, settings }) => ({
    bucket,
    prefix: query.get('prefix') ?? '',
    delimiter: parseDelimiter(query),
    startAfter: query.get('start-after'),
    token: query.get('continuation-token'),
    maxKeys: parsePageSize(query, 'max-keys', settings.limits.keysPerPage),
    fetchOwner: parseFlag(query, 'fetch-owner'),
    encoding: parseEncodingType(query.get('encoding-type')),
  }),

  authorise: ({ bucket }, { query }) => [
    { action: 'ListBucket', bucket, facts: factsFrom(query, ['prefix', 'delimiter', 'max-keys']) },
  ],

  act: async ({ prefix, delimiter, startAfter, token, maxKeys, fetchOwner, encoding }, context) => {
    const { bucket, settings } = context;
    const scope = [bucket.id, prefix, delimiter];
    // A token overrides start-after; an empty token counts as none.
    const position = token
      ? readListingToken(settings.tokenKey, scope, token)
      : startAfter
        ? { after: startAfter }
        : undefined;
    const request = { prefix, delimiter, position, limit: maxKeys };
    const rows = new ObjectRowsXml(context, { encoding, showOwner: fetchOwner });
    const page = await listObjects(context, bucket, request, settings.limits.listingEffort, rows);
    return {
      ...page,
      rows: await rows.bytes(),
      nextContinuationToken: page.next && writeListingToken(settings.tokenKey, scope, page.next),
    };
  },

  render: ({ rows, rowCount, commonPrefixes, nextContinuationToken }, input, { settings }) => ({
    xml: listObjectsV2Result(
      {
        bucket: input.bucket,
        prefix: input.prefix,
        delimiter: input.delimiter,
        startAfter: input.startAfter,
        continuationToken: input.token,
        nextContinuationToken,
        maxKeys: input.maxKeys,
        isTruncated: nextContinuationToken !== undefined,
        rows,
        rowCount,
        commonPrefixes,
        encoding: input.encoding,
      },
      settings.xmlNamespace,
    ),
  }),
});

/** @throws S3Error InvalidArgument for anything but `true` and `false` */
function parseFlag(query: Query, name: string): boolean {
  const value = query.get(name)?.toLowerCase() ?? '';
  if (!['', 'true', 'false'].includes(value)) throw invalidArgument(name, value);
  return value === 'true';
}
