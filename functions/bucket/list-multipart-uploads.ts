import { parsePageSize } from '../../shared/http/listing-parameters.ts';
import { parseEncodingType } from '../../shared/http/url-encoding.ts';
import { listUploads } from '../../shared/storage/listings/upload-listing.ts';
import { factsFrom } from '../../shared/protocol/authorisation/policy-facts.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { ownersOf } from '../../shared/protocol/acls/owners.ts';
import { listMultipartUploadsResult } from '../../shared/xml/listings.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html */
export const listMultipartUploads = defineOperation({
  name: 'ListMultipartUploads',
  on: 'bucket',
  body: 'none',
  needs: { table: 'read' },
  isListing: true,

  parse: ({ bucket, query, settings }) => {
    const keyMarker = query.get('key-marker') ?? '';
    return {
      bucket,
      prefix: query.get('prefix') ?? '',
      delimiter: query.get('delimiter') ?? '',
      keyMarker,
      // S3 ignores it without a key marker.
      uploadIdMarker: keyMarker === '' ? '' : (query.get('upload-id-marker') ?? ''),
      maxUploads: parsePageSize(query, 'max-uploads', settings.limits.keysPerPage),
      encoding: parseEncodingType(query.get('encoding-type')),
    };
  },

  authorise: ({ bucket }, { query }) => [
    { action: 'ListBucketMultipartUploads', bucket, facts: factsFrom(query, ['prefix', 'delimiter']) },
  ],

  act: async ({ prefix, delimiter, keyMarker, uploadIdMarker, maxUploads }, context) => {
    const request = { prefix, delimiter, keyMarker, uploadIdMarker, limit: maxUploads };
    const page = await listUploads(context, context.bucket, request, context.settings.limits.listingEffort);
    const ids = page.rows.flatMap(({ initiator, owner }) => [initiator, owner]);
    return { ...page, nameOf: await ownersOf(ids, context.projects) };
  },

  render: ({ rows, commonPrefixes, next, nameOf }, input, { settings }) => ({
    xml: listMultipartUploadsResult(
      {
        bucket: input.bucket,
        prefix: input.prefix,
        delimiter: input.delimiter,
        keyMarker: input.keyMarker,
        uploadIdMarker: input.uploadIdMarker,
        nextKeyMarker: next?.keyMarker,
        nextUploadIdMarker: next?.uploadIdMarker,
        maxUploads: input.maxUploads,
        isTruncated: next !== undefined,
        uploads: rows.map(({ key, id, initiator, owner, storageClass, initiated, checksum }) => ({
          key,
          uploadId: id,
          initiator: nameOf(initiator),
          owner: nameOf(owner),
          storageClass,
          initiated,
          checksum,
        })),
        commonPrefixes,
        encoding: input.encoding,
      },
      settings.xmlNamespace,
    ),
  }),
});
