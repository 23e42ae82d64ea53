import {
  judgeDelete,
  judgeWrite,
  verdictError,
  type DeleteConditions,
  type RenameConditions,
  type WriteConditions,
} from '../../http/fields/preconditions.ts';
import type { Question } from '../../access/authorise.ts';
import type { Guard } from '../../storage/version-changes/new-version.ts';
import { etagOf, type Version } from '../../storage/versions/versions.ts';
import { readQuestion, type Place } from './questions.ts';

/**
 * Returns the If-* conditions of a write as the guard of its commit; undefined if there are none, so that nothing need
 * be read.
 */
export function writeGuard(conditions: WriteConditions): Guard | undefined {
  if (conditions.ifMatch === undefined && conditions.ifAbsent === undefined) return undefined;
  return (current) => {
    const failure = verdictError(judgeWrite(conditions, current && factsOf(current)));
    if (failure) throw failure;
  };
}

/**
 * Returns the questions of a write besides that of writing: its conditions tell whoever may send them what they are
 * compared with, unless they only ask that there be nothing.
 */
export function writeComparison(place: Place, { ifMatch }: WriteConditions): readonly Question[] {
  return ifMatch === undefined ? [] : [readQuestion(place)];
}

/** As {@link writeComparison}, for the target of a rename, which is also compared with dates. */
export function renameComparison(place: Place, conditions: RenameConditions): readonly Question[] {
  const { ifModifiedSince, ifUnmodifiedSince } = conditions;
  const compares = ifModifiedSince !== undefined || ifUnmodifiedSince !== undefined;
  return compares ? [readQuestion(place)] : writeComparison(place, conditions);
}

/** As {@link writeComparison}, for a DELETE. */
export function deleteComparison(place: Place, conditions: DeleteConditions): readonly Question[] {
  return isConditionalDelete(conditions) ? [readQuestion(place)] : [];
}

function isConditionalDelete({ ifMatch, lastModified, size }: DeleteConditions): boolean {
  return [ifMatch, lastModified, size].some((condition) => condition !== undefined);
}

/** Returns the conditions of a DELETE as {@link writeGuard} does. */
export function deleteGuard(conditions: DeleteConditions): Guard | undefined {
  if (!isConditionalDelete(conditions)) return undefined;
  return (current) => {
    const failure = verdictError(judgeDelete(conditions, current && { ...factsOf(current), size: current.size }));
    if (failure) throw failure;
  };
}

function factsOf(version: Version): { etag: string; lastModified: number } {
  return { etag: etagOf(version), lastModified: version.lastModified };
}
