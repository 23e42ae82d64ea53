import { tagging, type Tag } from '../../shared/documents/tagging.ts';
import type { ObjectAttributes } from '../../shared/storage/versions/object-attributes.ts';
import { type Version, presentVersion } from '../../shared/storage/versions/versions.ts';
import { versionIdOf } from '../../shared/storage/versions/versions.ts';
import { xmlBody } from '../../shared/protocol/bodies/xml-body.ts';
import { tagLimits } from '../../shared/protocol/limits.ts';
import {
  defineOperation,
  type Answer,
  type Context,
  type RequestHead,
  emptyXml,
} from '../../shared/protocol/operation.ts';
import { parseVersionId } from '../../shared/protocol/objects/version-id.ts';
import { checkTags } from '../../shared/protocol/tags.ts';

interface Input {
  readonly bucket: string;
  readonly key: string;
  readonly versionId: string | undefined;
}

function parse({ bucket, key, query }: RequestHead<'object'>): Input {
  return { bucket, key, versionId: parseVersionId(query) };
}

/** Returns the action: `GetObjectTagging`, or `GetObjectVersionTagging` with a version id. */
function question(verb: 'Get' | 'Put' | 'Delete') {
  return ({ versionId, bucket, key }: Input) => [
    versionId === undefined
      ? { action: `${verb}ObjectTagging` as const, bucket, key }
      : { action: `${verb}ObjectVersionTagging` as const, bucket, key, versionId },
  ];
}

function withVersion(version: Version, answer: Answer): Answer {
  return { ...answer, fields: [...(answer.fields ?? []), ['x-amz-version-id', versionIdOf(version)]] };
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectTagging.html */
export const getObjectTagging = defineOperation({
  name: 'GetObjectTagging',
  on: 'object',
  body: 'none',
  needs: { table: 'read' },
  parse,
  authorise: question('Get'),
  act: async ({ key, versionId }, { bucket, view }) => {
    const version = presentVersion(await view.find(bucket, key, versionId), key, versionId);
    return { version, tags: (await view.objectAttributes(version)).tags };
  },
  render: ({ version, tags }, _, { settings }) =>
    withVersion(version, {
      xml: tagging.write(
        tags.map(([key, value]) => ({ key, value })),
        settings.xmlNamespace,
      ),
    }),
});

function retag(
  { authorisation, objects }: Context<'object', 'none'>,
  tags: ObjectAttributes['tags'],
): Promise<Version> {
  return objects.revise(authorisation, (objectAttributes) => ({ ...objectAttributes, tags }));
}

function pairsOf(tags: readonly Tag[]): ObjectAttributes['tags'] {
  return tags.map(({ key, value }) => [key, value] as const);
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectTagging.html */
export const putObjectTagging = defineOperation({
  name: 'PutObjectTagging',
  on: 'object',
  body: xmlBody(tagging, (tags, limits) => checkTags(tags, tagLimits(limits, 'tagsPerObject'))),
  needs: { table: 'write' },
  parse,
  authorise: (input, _, body) =>
    question('Put')(input).map((one) => ({ ...one, tags: async () => pairsOf((await body()).document) })),
  findSubject: async ({ key, versionId }, { bucket, view }) => {
    presentVersion(await view.find(bucket, key, versionId), key, versionId);
  },
  act: (_, context) => retag(context, pairsOf(context.document)),
  render: (version) => withVersion(version, emptyXml()),
});

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjectTagging.html */
export const deleteObjectTagging = defineOperation({
  name: 'DeleteObjectTagging',
  on: 'object',
  body: 'none',
  needs: { table: 'write' },
  parse,
  authorise: question('Delete'),
  act: (_, context) => retag(context, []),
  render: (version) => withVersion(version, { status: 204 }),
});
