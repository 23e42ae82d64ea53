import { legalHold, objectRetention } from '../../shared/documents/object-lock.ts';
import { S3Error } from '../../shared/errors/s3-error.ts';
import { formatIsoSecond } from '../../shared/http/fields/dates.ts';
import { xmlBody } from '../../shared/protocol/bodies/xml-body.ts';
import { checkIsFuture, overrideQuestions, readOverride } from '../../shared/protocol/objects/object-lock.ts';
import { parseVersionId } from '../../shared/protocol/objects/version-id.ts';
import {
  defineOperation,
  emptyXml,
  type Context,
  type RequestHead,
  type SubjectContext,
} from '../../shared/protocol/operation.ts';
import { noObjectLock } from '../../shared/storage/buckets/bucket.ts';
import { presentVersion, type Version } from '../../shared/storage/versions/versions.ts';

interface Input {
  readonly bucket: string;
  readonly key: string;
  readonly versionId: string | undefined;
}

function parse({ bucket, key, query }: RequestHead<'object'>): Input {
  return { bucket, key, versionId: parseVersionId(query) };
}

function placeOf({ bucket, key, versionId }: Input) {
  return { bucket, key, ...(versionId !== undefined && { versionId }) };
}

async function find({ key, versionId }: Input, { bucket, view }: Pick<SubjectContext, 'bucket' | 'view'>) {
  if (bucket.objectLock === undefined) throw noObjectLock('Bucket is missing Object Lock Configuration');
  return presentVersion(await view.find(bucket, key, versionId), key, versionId);
}

/** Returns a part of the lock of a version. @throws S3Error NoSuchObjectLockConfiguration */
async function part<Part>(
  input: Input,
  context: Context<'object', 'none'>,
  of: (version: Version) => Part | undefined,
) {
  const found = of(await find(input, context));
  if (found !== undefined) return found;
  throw new S3Error('NoSuchObjectLockConfiguration', { details: { Key: input.key } });
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectRetention.html */
export const getObjectRetention = defineOperation({
  name: 'GetObjectRetention',
  on: 'object',
  body: 'none',
  needs: { table: 'read' },
  parse,
  authorise: (input) => [{ action: 'GetObjectRetention', ...placeOf(input) }],
  act: (input, context) => part(input, context, ({ retention }) => retention),
  render: (retention, _, { settings }) => ({ xml: objectRetention.write(retention, settings.xmlNamespace) }),
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectLegalHold.html */
export const getObjectLegalHold = defineOperation({
  name: 'GetObjectLegalHold',
  on: 'object',
  body: 'none',
  needs: { table: 'read' },
  parse,
  authorise: (input) => [{ action: 'GetObjectLegalHold', ...placeOf(input) }],
  act: (input, context) => part(input, context, (version) => version.legalHold),
  render: (hold, _, { settings }) => ({ xml: legalHold.write(hold, settings.xmlNamespace) }),
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectRetention.html */
export const putObjectRetention = defineOperation({
  name: 'PutObjectRetention',
  on: 'object',
  body: xmlBody(objectRetention),
  needs: { table: 'write' },
  parse: (request) => ({ ...parse(request), override: readOverride(request.fields) }),
  authorise: ({ override, ...input }, _, body) => [
    {
      action: 'PutObjectRetention',
      ...placeOf(input),
      documentFacts: async () => {
        const { mode, until } = (await body()).document;
        return {
          's3:object-lock-mode': mode,
          's3:object-lock-retain-until-date': until === undefined ? undefined : formatIsoSecond(until),
        };
      },
    },
    ...overrideQuestions(override, input),
  ],
  findSubject: async (input, context) => void (await find(input, context)),
  act: async ({ override, ...input }, context) => {
    const { authorisation, clock, document, objects } = context;
    await find(input, context);
    const { mode, until } = document;
    const retention = mode === undefined || until === undefined ? undefined : { mode, until };
    if (retention) checkIsFuture(retention, clock.now());
    await objects.relock(authorisation, { retention, override });
  },
  render: emptyXml,
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectLegalHold.html */
export const putObjectLegalHold = defineOperation({
  name: 'PutObjectLegalHold',
  on: 'object',
  body: xmlBody(legalHold),
  needs: { table: 'write' },
  parse,
  authorise: (input, _, body) => [
    {
      action: 'PutObjectLegalHold',
      ...placeOf(input),
      documentFacts: async () => ({ 's3:object-lock-legal-hold': (await body()).document }),
    },
  ],
  findSubject: async (input, context) => void (await find(input, context)),
  act: (_, { authorisation, document, objects }) => objects.relock(authorisation, { legalHold: document }),
  render: emptyXml,
});
