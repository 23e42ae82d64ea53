import type { Question } from '../../shared/access/authorise.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { evaluated, type Preconditions } from '../../shared/http/fields/preconditions.ts';
import { presentVersion } from '../../shared/storage/versions/versions.ts';
import { customerFacts } from '../../shared/protocol/authorisation/policy-facts.ts';
import { readCustomerKey } from '../../shared/protocol/objects/encryption.ts';
import { responseOverrides } from '../../shared/protocol/objects/object-headers.ts';
import {
  judgeFound,
  openFound,
  renderRead,
  type ReadInput,
  type ReadOutput,
} from '../../shared/protocol/objects/object-read.ts';
import { visibleLock } from '../../shared/protocol/objects/object-lock.ts';
import { readQuestion } from '../../shared/protocol/objects/questions.ts';
import { defineOperation, type Context, type RequestHead } from '../../shared/protocol/operation.ts';
import { parsePartNumber } from '../../shared/protocol/objects/part.ts';
import { parseVersionId } from '../../shared/protocol/objects/version-id.ts';

function parseRead(request: RequestHead<'object'>, conditions: Preconditions): ReadInput {
  const { bucket, key, fields, query, signed, settings } = request;
  const partNumber = query.has('partNumber') ? parsePartNumber(query, settings.limits.partsPerUpload) : undefined;
  if (partNumber !== undefined && fields.has('range')) {
    throw new S3Error('InvalidRequest', {
      message: 'Cannot specify both Range header and partNumber query parameter.',
    });
  }
  return {
    bucket,
    key,
    versionId: parseVersionId(query),
    range: fields.get('range'),
    partNumber,
    ifRange: fields.get('if-range'),
    conditions,
    customer: readCustomerKey(request),
    showChecksum: fields.get('x-amz-checksum-mode')?.toUpperCase() === 'ENABLED',
    overrides: responseOverrides(query, signed),
  };
}

/** Finds the version and evaluates conditions and range against it. */
async function locate(input: ReadInput, context: Context<'object', 'none'>): Promise<ReadOutput> {
  const { bucket, view } = context;
  const version = presentVersion(await view.find(bucket, input.key, input.versionId), input.key, input.versionId);
  const found = await judgeFound(version, input, bucket, context);
  return { ...found, lock: await visibleLock(version, input, context) };
}

function authoriseRead({ bucket, key, versionId }: ReadInput, { fields }: RequestHead<'object'>): readonly Question[] {
  return [{ ...readQuestion({ bucket, key, versionId }), facts: customerFacts(fields) }];
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html */
export const getObject = defineOperation({
  name: 'GetObject',
  on: 'object',
  body: 'none',
  needs: { table: 'read', blobs: 'read' },
  conditions: evaluated.ofRead,
  parse: parseRead,
  authorise: authoriseRead,
  act: async (input, context) => {
    const found = await locate(input, context);
    const body = await openFound(found, input, context.contents);
    return { found, body };
  },
  render: ({ found, body }, input) => ({ ...renderRead(found, input), body }),
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html */
export const headObject = defineOperation({
  name: 'HeadObject',
  on: 'object',
  body: 'none',
  needs: { table: 'read' },
  conditions: evaluated.ofRead,
  parse: parseRead,
  authorise: authoriseRead,
  act: (input, context) => locate(input, context),
  render: renderRead,
});
