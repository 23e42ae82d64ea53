import {
  isConditionalWrite,
  judgeDelete,
  judgeWrite,
  verdictError,
  type DeleteConditions,
  type Preconditions,
} from '../../http/preconditions.ts';
import type { Guard } from '../../metadata/objects/new-version.ts';
import { etagOf, type Version } from '../../metadata/objects/versions.ts';

/**
 * Returns the If-* conditions of a write as the guard of its commit; undefined if there are none, so that nothing need
 * be read.
 */
export function writeGuard(conditions: Preconditions): Guard | undefined {
  if (!isConditionalWrite(conditions)) return undefined;
  return (current) => {
    const failure = verdictError(judgeWrite(conditions, current && factsOf(current)));
    if (failure) throw failure;
  };
}

/** Returns the conditions of a DELETE as {@link writeGuard} does. */
export function deleteGuard(conditions: DeleteConditions): Guard | undefined {
  if (Object.values(conditions).every((condition) => condition === undefined)) return undefined;
  return (current) => {
    const failure = verdictError(judgeDelete(conditions, current && { ...factsOf(current), size: current.size }));
    if (failure) throw failure;
  };
}

function factsOf(version: Version): { etag: string; lastModified: number } {
  return { etag: etagOf(version), lastModified: version.lastModified };
}
