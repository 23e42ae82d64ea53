import { invalidArgument } from '../../shared/errors/s3-error.ts';
import { parsePageSize } from '../../shared/http/listing-parameters.ts';
import { parseEncodingType } from '../../shared/http/url-encoding.ts';
import { checkVersionId } from '../../shared/storage/versions/version-id.ts';
import { listVersions } from '../../shared/storage/listings/version-listing.ts';
import { VersionRowsXml } from '../../shared/protocol/objects/listed-objects.ts';
import { factsFrom } from '../../shared/protocol/authorisation/policy-facts.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { listVersionsResult } from '../../shared/xml/listings.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html */
export const listObjectVersions = defineOperation({
  name: 'ListObjectVersions',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  isListing: true,

  parse: ({ bucket, query, settings }) => {
    const keyMarker = query.get('key-marker') ?? '';
    const versionIdMarker = query.get('version-id-marker') ?? '';
    if (versionIdMarker !== '') {
      if (keyMarker === '') {
        const message = 'A version-id marker cannot be specified without a key marker.';
        throw invalidArgument('version-id-marker', versionIdMarker, message);
      }
      checkVersionId(versionIdMarker);
    }
    return {
      bucket,
      prefix: query.get('prefix') ?? '',
      delimiter: query.get('delimiter') ?? '',
      keyMarker,
      versionIdMarker,
      maxKeys: parsePageSize(query, 'max-keys', settings.limits.keysPerPage),
      encoding: parseEncodingType(query.get('encoding-type')),
    };
  },

  authorise: ({ bucket }, { query }) => [
    { action: 'ListBucketVersions', bucket, facts: factsFrom(query, ['prefix', 'delimiter', 'max-keys']) },
  ],

  act: async ({ prefix, delimiter, keyMarker, versionIdMarker, maxKeys, encoding }, context) => {
    const rows = new VersionRowsXml(context, encoding);
    const page = await listVersions(
      context,
      context.bucket,
      { prefix, delimiter, keyMarker, versionIdMarker, limit: maxKeys },
      context.settings.limits.listingEffort,
      rows,
    );
    return { ...page, rows: await rows.bytes() };
  },

  render: ({ rows, commonPrefixes, next }, input, { settings }) => ({
    xml: listVersionsResult(
      {
        bucket: input.bucket,
        prefix: input.prefix,
        delimiter: input.delimiter,
        keyMarker: input.keyMarker,
        versionIdMarker: input.versionIdMarker,
        nextKeyMarker: next?.keyMarker,
        nextVersionIdMarker: next?.versionIdMarker,
        maxKeys: input.maxKeys,
        isTruncated: next !== undefined,
        rows,
        commonPrefixes,
        encoding: input.encoding,
      },
      settings.xmlNamespace,
    ),
  }),
});
