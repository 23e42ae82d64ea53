import { parseDelimiter, parsePageSize } from '../../shared/http/listing-parameters.ts';
import { parseEncodingType } from '../../shared/http/url-encoding.ts';
import { markerOf, positionOf } from '../../shared/storage/listings/listing-token.ts';
import { listObjects as listPageOfObjects } from '../../shared/storage/listings/object-listing.ts';
import { ObjectRowsXml } from '../../shared/protocol/objects/listed-objects.ts';
import { factsFrom } from '../../shared/protocol/authorisation/policy-facts.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { listObjectsResult } from '../../shared/xml/listings.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjects.html */
export const listObjects = defineOperation({
  name: 'ListObjects',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  isListing: true,

  parse: ({ bucket, query, settings }) => ({
    bucket,
    prefix: query.get('prefix') ?? '',
    delimiter: parseDelimiter(query),
    marker: query.get('marker') ?? '',
    maxKeys: parsePageSize(query, 'max-keys', settings.limits.keysPerPage),
    encoding: parseEncodingType(query.get('encoding-type')),
  }),

  authorise: ({ bucket }, { query }) => [
    { action: 'ListBucket', bucket, facts: factsFrom(query, ['prefix', 'delimiter', 'max-keys']) },
  ],

  act: async ({ prefix, delimiter, marker, maxKeys, encoding }, context) => {
    const { bucket, settings } = context;
    const position = positionOf(marker, prefix, delimiter);
    const request = { prefix, delimiter, position, limit: maxKeys };
    const rows = new ObjectRowsXml(context, { encoding, showOwner: true });
    const page = await listPageOfObjects(context, bucket, request, settings.limits.listingEffort, rows);
    return { ...page, rows: await rows.bytes() };
  },

  render: ({ rows, commonPrefixes, next }, { bucket, prefix, delimiter, marker, maxKeys, encoding }, { settings }) => ({
    xml: listObjectsResult(
      {
        bucket,
        prefix,
        delimiter,
        marker,
        nextMarker: next && markerOf(next),
        maxKeys,
        isTruncated: next !== undefined,
        rows,
        commonPrefixes,
        encoding,
      },
      settings.xmlNamespace,
    ),
  }),
});
