import { invalidArgument } from '../../shared/errors/s3-error.ts';
import type { Query } from '../../shared/http/query.ts';
import { readListingToken, writeListingToken } from '../../shared/metadata/listings/listing-token.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { listAllMyBucketsResult } from '../../shared/xml/buckets.ts';

/** Lists the buckets of the caller's project: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html */
export const listBuckets = defineOperation({
  name: 'ListBuckets',
  on: 'service',
  body: 'none',
  needs: { table: 'read' },

  parse: ({ query, settings }) => ({
    prefix: query.get('prefix'),
    token: query.get('continuation-token'),
    region: query.get('bucket-region'),
    limit: parseMaxBuckets(query, settings.limits.bucketsPerPage),
  }),

  authorise: () => [{ action: 'ListAllMyBuckets' }],

  act: async ({ prefix, token, region, limit }, { caller, buckets, settings }) => {
    if (caller.kind !== 'user') return { owner: { id: 'anonymous', displayName: 'anonymous' }, buckets: [] };
    const { id, displayName } = caller.project;
    const owner = { id, displayName };
    if (region !== undefined && region !== '' && region !== settings.region) return { owner, buckets: [] };
    const scope = ['buckets', id, prefix ?? ''];
    const after = token ? readListingToken(settings.tokenKey, scope, token).after : undefined;
    const page = await buckets.ownedBy(id, {
      limit,
      ...(prefix !== undefined && { prefix }),
      ...(after !== undefined && { after }),
    });
    const last = page.buckets.at(-1);
    return {
      owner,
      buckets: page.buckets.map(({ name, created }) => ({ name, creationDate: created })),
      continuationToken:
        page.more && last ? writeListingToken(settings.tokenKey, scope, { after: last.name }) : undefined,
    };
  },

  render: (output, { prefix }, { settings }) => ({
    xml: listAllMyBucketsResult({ ...output, prefix }, settings.xmlNamespace),
  }),
});

/** @throws S3Error InvalidArgument for anything but an integer between 1 and the maximum */
function parseMaxBuckets(query: Query, maximum: number): number {
  const value = query.get('max-buckets');
  if (value === undefined || value === '') return maximum;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (number < 1 || number > maximum) {
    throw invalidArgument('max-buckets', value, `Argument max-buckets must be an integer between 1 and ${maximum}`);
  }
  return number;
}
