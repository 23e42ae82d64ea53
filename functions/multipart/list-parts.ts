import { partListing } from '../../shared/documents/multipart.ts';
import { parsePageSize } from '../../shared/http/listing-parameters.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { readAbortion } from '../../shared/protocol/objects/expiration-header.ts';
import { ownersOf } from '../../shared/protocol/acls/owners.ts';
import { requireUploadId } from '../../shared/protocol/objects/part.ts';

const highestMarker = 2 ** 31 - 1;

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListParts.html */
export const listParts = defineOperation({
  name: 'ListParts',
  on: 'object',
  body: 'none',
  needs: { table: 'read' },
  isListing: true,

  parse: ({ bucket, key, query, settings }) => ({
    bucket,
    key,
    uploadId: requireUploadId(query),
    maxParts: parsePageSize(query, 'max-parts', settings.limits.keysPerPage),
    marker: query.get('part-number-marker') ? parsePageSize(query, 'part-number-marker', highestMarker) : 0,
  }),

  authorise: ({ bucket, key, uploadId }) => [{ action: 'ListMultipartUploadParts', bucket, key, uploadId }],

  act: async ({ key, uploadId, maxParts, marker }, context) => {
    const { bucket, uploads, projects } = context;
    const upload = await uploads.findOpen(bucket, key, uploadId);
    const page = await uploads.latestParts(uploadId, marker, maxParts);
    const abortion = await readAbortion(context, bucket, { key, initiated: upload.initiated });
    return { upload, ...page, abortion, nameOf: await ownersOf([upload.owner, upload.initiator], projects) };
  },

  render: ({ upload, parts, more, abortion, nameOf }, { bucket, key, uploadId, maxParts, marker }, { settings }) => ({
    fields: abortion,
    xml: partListing.write(
      {
        bucket,
        key,
        uploadId,
        initiator: nameOf(upload.initiator),
        owner: nameOf(upload.owner),
        storageClass: upload.storageClass ?? 'STANDARD',
        partNumberMarker: marker,
        nextPartNumberMarker: more ? parts.at(-1)?.number : undefined,
        maxParts,
        isTruncated: more && maxParts > 0,
        checksumAlgorithm: upload.checksum?.algorithm,
        checksumType: upload.checksum?.type,
        parts: parts.map(({ number, at, md5, size, checksum }) => ({
          partNumber: number,
          lastModified: at,
          etag: Buffer.from(md5).toString('hex'),
          size,
          checksum,
        })),
      },
      settings.xmlNamespace,
    ),
  }),
});
