import { invalidArgument, S3Error } from '../../shared/errors/s3-error.ts';
import { checkKey } from '../../shared/http/address.ts';
import { decodeSourceKey } from '../../shared/http/fields/copy-source.ts';
import {
  evaluated,
  judgeRenameTarget,
  judgeSource,
  verdictError,
  type Preconditions,
  type RenameConditions,
} from '../../shared/http/fields/preconditions.ts';
import type { Guard } from '../../shared/storage/version-changes/new-version.ts';
import { SourceGone } from '../../shared/storage/version-changes/outcomes.ts';
import { etagOf, renamedOf, type CurrentVersion, type Version } from '../../shared/storage/versions/versions.ts';
import { conditionFacts } from '../../shared/protocol/authorisation/policy-facts.ts';
import { creates } from '../../shared/protocol/objects/questions.ts';
import { renameComparison } from '../../shared/protocol/objects/write-guard.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';

const sourceField = 'x-amz-rename-source';
const tokenField = 'x-amz-client-token';
const maxAttempts = 8;

/** Renames atomically, without moving bytes: https://docs.aws.amazon.com/AmazonS3/latest/API/API_RenameObject.html */
export const renameObject = defineOperation({
  name: 'RenameObject',
  on: 'object',
  body: 'none',
  needs: { table: 'write' },
  conditions: evaluated.ofRename,

  parse: ({ bucket, key, fields, settings }, conditions) => {
    checkKey(key, settings.limits.keyBytes);
    const source = parseSource(fields.get(sourceField) ?? '', bucket);
    if (source === key) throw invalidArgument(sourceField, source, 'An object cannot be renamed to its own name.');
    return {
      bucket,
      key,
      source,
      sourceConditions: conditions.source,
      conditions: conditions.target,
      token: parseToken(fields.get(tokenField)),
    };
  },

  authorise: ({ bucket, key, source, conditions }, { fields }) => [
    { action: 'GetObject', bucket, key: source },
    { action: 'DeleteObject', bucket, key: source },
    { action: 'PutObject', bucket, key, facts: { ...conditionFacts(fields), ...creates(true) } },
    ...renameComparison({ bucket, key }, conditions),
  ],

  act: async ({ key, source: from, sourceConditions, conditions, token }, context) => {
    const { authorisation, bucket, objects, quotas, contentReferences, publicLinks, view } = context;
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      if (attempt > 0) {
        view.forget();
        await context.authoriseLook({ action: 'GetObject', bucket: bucket.name, key: from });
      }
      const source = await view.find(bucket, from);
      if (source === undefined || source.marker) {
        const target = await objects.find(bucket, key);
        if (token !== undefined && target?.renameToken === token) return;
        throw new S3Error('NoSuchKey', { details: { Key: from } });
      }
      judge(sourceConditions, source);
      const share = contentReferences.handedOn({ bucketId: bucket.id, key: from, version: source });
      const renamed = {
        ...renamedOf(source),
        objectAttributes: await view.objectAttributes(source),
        renameToken: token,
      };
      // With versioning, the old name keeps its versions.
      const grows = bucket.versioning !== 'off';
      const reservation = grows ? await quotas.reserve(bucket, { bytes: source.size, objects: 1 }) : undefined;
      try {
        await objects.put(authorisation, renamed, {
          guard: targetGuard(conditions),
          rightsCount: 'at the commit',
          renamedFrom: from,
          extras: async (version: CurrentVersion, before, present) => {
            const { changes, conditions: held } = await share(version, before, present);
            const left = await objects.renamedAway({ bucket: present, key: from, authorisation, source });
            // Where versions are kept, the former name keeps this one, and its links stay with it.
            const isKept = present.versioning === 'on' || source.named;
            const links = isKept
              ? []
              : await publicLinks.moved({ bucketId: present.id, key: from, version: source }, { key, version });
            return { changes: [...changes, ...left, ...links], conditions: held };
          },
        });
        return;
      } catch (error) {
        if (!(error instanceof SourceGone)) throw error;
      } finally {
        reservation?.release();
      }
    }
    throw new S3Error('SlowDown', { cause: new Error('the source changed at every attempt') });
  },

  render: () => ({}),
});

/** Reads the source: `/bucket/key` or `key`, encoded, in the same bucket. */
function parseSource(value: string, bucket: string): string {
  if (value === '')
    throw invalidArgument(sourceField, value, `The header ${sourceField} must name the object to rename.`);
  if (!value.startsWith('/')) return decodeSourceKey(value);
  const own = `/${bucket}/`;
  if (!value.startsWith(own) || value === own) {
    throw invalidArgument(sourceField, value, 'An object can be renamed within its bucket only.');
  }
  return decodeSourceKey(value.slice(own.length));
}

function parseToken(value: string | undefined): string | undefined {
  if (value !== undefined && value.length > 64) throw invalidArgument(tokenField, value);
  return value;
}

function judge(conditions: Preconditions, source: Version): void {
  const failure = verdictError(judgeSource(conditions, factsOf(source)));
  if (failure) throw failure;
}

function targetGuard(conditions: RenameConditions): Guard {
  return (current) => {
    const failure = verdictError(judgeRenameTarget(conditions, current && factsOf(current)));
    if (failure) throw failure;
  };
}

function factsOf(version: Version): { etag: string; lastModified: number } {
  return { etag: etagOf(version), lastModified: version.lastModified };
}
