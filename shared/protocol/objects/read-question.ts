import type { Question } from '../../access/authorise.ts';

/** An object, or one of its versions. */
export interface Place {
  readonly bucket: string;
  readonly key: string;
  readonly versionId?: string | undefined;
}

/** Returns the question whether the caller may read an object or a version. */
export function readQuestion({ bucket, key, versionId }: Place): Question {
  if (versionId === undefined) return { action: 'GetObject', bucket, key };
  return { action: 'GetObjectVersion', bucket, key, versionId };
}
