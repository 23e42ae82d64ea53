import { objectAttributes } from '../../shared/documents/attributes.ts';
import { invalidArgument, S3Error } from '../../shared/errors/s3-error.ts';
import { formatHttpDate } from '../../shared/http/fields/dates.ts';
import type { Fields } from '../../shared/http/message.ts';
import { etagOf, versionIdOf, presentVersion } from '../../shared/storage/versions/versions.ts';
import { customerFacts } from '../../shared/protocol/authorisation/policy-facts.ts';
import { checkCustomerKey, readCustomerKey } from '../../shared/protocol/objects/encryption.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { parseVersionId } from '../../shared/protocol/objects/version-id.ts';

const attributes = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'] as const;
type Attribute = (typeof attributes)[number];

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectAttributes.html */
export const getObjectAttributes = defineOperation({
  name: 'GetObjectAttributes',
  on: 'object',
  body: 'none',
  needs: { table: 'read' },

  parse: ({ bucket, key, fields, query, settings, ...channel }) => ({
    bucket,
    key,
    versionId: parseVersionId(query),
    asked: parseAttributes(fields),
    customer: readCustomerKey({ fields, settings, ...channel }),
    maxParts: Math.min(parseNumber(fields, 'x-amz-max-parts') ?? Infinity, settings.limits.keysPerPage),
    marker: parseNumber(fields, 'x-amz-part-number-marker') ?? 0,
  }),

  authorise: ({ bucket, key, versionId }, { fields }) => {
    const place = { bucket, key, facts: customerFacts(fields) };
    return versionId === undefined
      ? [
          { action: 'GetObject', ...place },
          { action: 'GetObjectAttributes', ...place },
        ]
      : [
          { action: 'GetObjectVersion', ...place, versionId },
          { action: 'GetObjectVersionAttributes', ...place, versionId },
        ];
  },

  act: async ({ key, versionId, asked, customer }, { bucket, view, contents }) => {
    const version = presentVersion(await view.find(bucket, key, versionId), key, versionId);
    checkCustomerKey(version.encryption, customer());
    return { version, parts: asked.has('ObjectParts') ? await contents.parts(version) : [] };
  },

  render: ({ version, parts }, { asked, maxParts, marker }, { settings }) => {
    const remaining = parts.filter(({ number }) => number > marker);
    const page = remaining.slice(0, maxParts);
    const isTruncated = remaining.length > page.length && maxParts > 0;
    return {
      fields: [
        ['last-modified', formatHttpDate(version.lastModified)],
        ['x-amz-version-id', versionIdOf(version)],
      ],
      xml: objectAttributes.write(
        {
          etag: asked.has('ETag') ? etagOf(version) : undefined,
          // Only here does a composite checksum lack its number of parts.
          checksum: asked.has('Checksum') && version.checksum ? { typed: version.checksum } : undefined,
          objectParts:
            parts.length === 0
              ? undefined
              : {
                  totalParts: parts.length,
                  partNumberMarker: marker,
                  nextPartNumberMarker: page.at(-1)?.number ?? marker,
                  maxParts,
                  isTruncated,
                  parts: page.map(({ number, size, checksum }) => ({ partNumber: number, size, checksum })),
                },
          storageClass: asked.has('StorageClass') ? (version.storageClass ?? 'STANDARD') : undefined,
          objectSize: asked.has('ObjectSize') ? version.size : undefined,
        },
        settings.xmlNamespace,
      ),
    };
  },
});

const field = 'x-amz-object-attributes';

function parseAttributes(fields: Fields): ReadonlySet<Attribute> {
  const value = fields.get(field)?.trim();
  if (!value) {
    throw new S3Error('InvalidRequest', { message: `Missing required header for this request: ${field}` });
  }
  return new Set(
    value.split(',').map((name) => {
      const attribute = attributes.find((one) => one === name.trim());
      if (attribute === undefined) throw invalidArgument(field, value, 'Invalid attribute name specified.');
      return attribute;
    }),
  );
}

function parseNumber(fields: Fields, name: string): number | undefined {
  const value = fields.get(name);
  if (value === undefined) return undefined;
  if (!/^\d{1,9}$/.test(value)) throw invalidArgument(name, value);
  return Number(value);
}
