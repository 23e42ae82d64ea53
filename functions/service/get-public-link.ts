import { S3Error } from '../../shared/errors/s3-error.ts';
import { evaluated } from '../../shared/http/fields/preconditions.ts';
import { judgeFound, openFound, renderRead, type ReadInput } from '../../shared/protocol/objects/object-read.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { publicFields, tokenOf } from '../../shared/protocol/public-link.ts';

/**
 * Returns the version that a public link refers to, to anyone, whatever the object's permissions. Range and
 * preconditions of the request apply; credentials, customer keys and the query are ignored. docs/public-links.md
 */
export const getPublicLink = defineOperation({
  name: 'GetPublicLink',
  on: 'internal',
  body: 'none',
  needs: { table: 'read', blobs: 'read' },
  conditions: evaluated.ofRead,
  ignoresCredentials: true,
  parse: ({ path, method, fields }, conditions) => ({
    token: tokenOf(path),
    withBody: method !== 'HEAD',
    range: fields.get('range'),
    ifRange: fields.get('if-range'),
    conditions,
  }),
  authorise: () => [],
  act: async ({ token, withBody, ...asked }, context) => {
    const { publicLinks, buckets, view, contents } = context;
    const link = await publicLinks.open(token);
    const bucket = link && (await buckets.recent(link.bucket));
    if (link === undefined || bucket?.id !== link.bucketId) throw new S3Error('NoSuchPublicLink');
    await context.concerns(bucket, link.key);
    const version = await view.find(bucket, link.key, link.versionId);
    if (version?.instance !== link.instance) throw new S3Error('NoSuchPublicLink');
    const read: ReadInput = {
      ...asked,
      bucket: bucket.name,
      key: link.key,
      versionId: link.versionId,
      partNumber: undefined,
      customer: () => undefined,
      showChecksum: false,
      overrides: new Map(),
    };
    const found = await judgeFound(version, read, bucket, context);
    const body = withBody ? await openFound(found, read, contents) : undefined;
    return { read, found, body };
  },
  render: ({ read, found, body }) => {
    const { status, fields = [] } = renderRead(found, read);
    return {
      ...(status !== undefined && { status }),
      fields: publicFields(fields, read.key, found.version.contentType),
      ...(body && { body }),
    };
  },
});
