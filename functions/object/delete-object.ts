import { evaluated } from '../../shared/http/fields/preconditions.ts';
import { isPossibleVersionId } from '../../shared/storage/versions/version-id.ts';
import { versionIdOf } from '../../shared/storage/versions/versions.ts';
import { defineOperation } from '../../shared/protocol/operation.ts';
import { ownerOfNew, sparing } from '../../shared/protocol/authorisation/ownership.ts';
import { factsFrom } from '../../shared/protocol/authorisation/policy-facts.ts';
import { withMarkerRoom } from '../../shared/protocol/objects/room.ts';
import { overrideQuestions, readOverride } from '../../shared/protocol/objects/object-lock.ts';
import { parseVersionIdToDelete } from '../../shared/protocol/objects/version-id.ts';
import { deleteComparison, deleteGuard } from '../../shared/protocol/objects/write-guard.ts';

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html */
export const deleteObject = defineOperation({
  name: 'DeleteObject',
  on: 'object',
  body: 'none',
  needs: { table: 'write' },
  conditions: evaluated.ofDelete,

  parse: ({ bucket, key, fields, query }, conditions) => ({
    bucket,
    key,
    versionId: parseVersionIdToDelete(query),
    conditions,
    override: readOverride(fields),
  }),

  authorise: ({ bucket, key, versionId, conditions, override }, { fields }) => [
    versionId === undefined
      ? { action: 'DeleteObject', bucket, key, facts: factsFrom(fields, ['if-match']) }
      : { action: 'DeleteObjectVersion', bucket, key, versionId, facts: factsFrom(fields, ['if-match']) },
    ...(versionId === undefined ? [] : overrideQuestions(override, { bucket, key, versionId })),
    ...deleteComparison({ bucket, key, versionId }, conditions),
  ],

  act: async ({ key, versionId, conditions, override }, { authorisation, bucket, caller, objects, quotas }) => {
    const { version, currentVersion: marker } = await withMarkerRoom(
      { bucket, objects, quotas },
      { key, versionId },
      () =>
        objects.remove({
          by: 'request',
          authorisation,
          owner: ownerOfNew(caller, bucket),
          guard: deleteGuard(conditions),
          override,
          sparing: sparing(caller, bucket),
        }),
    );
    if (versionId !== undefined) {
      // A bucket that was never versioned says nothing of versions, whichever the request names.
      if (bucket.versioning === 'off' || !isPossibleVersionId(versionId)) return { isMarker: false };
      return { versionId, isMarker: version?.marker === true };
    }
    return { versionId: marker && versionIdOf(marker), isMarker: marker !== undefined };
  },

  render: ({ versionId, isMarker }) => ({
    status: 204,
    fields: [
      ...(versionId === undefined ? [] : [['x-amz-version-id', versionId] as const]),
      ...(isMarker ? [['x-amz-delete-marker', 'true'] as const] : []),
    ],
  }),
});
