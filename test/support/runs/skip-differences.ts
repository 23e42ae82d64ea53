import { relative } from 'node:path';
import { beforeEach, type RunnerTask } from 'vitest';
import { findDifference, type Difference } from './differences.ts';

/** Skips tests that differ in a deployment, with the reason. To be called at the top of a setup file. */
export function skipDifferences(differences: readonly Difference[]): void {
  beforeEach((context) => {
    const { task, skip } = context;
    const file = relative(process.cwd(), task.file.filepath);
    const difference = findDifference(differences, file, namesOf(task).join(' > '));
    if (difference) skip(difference.reason);
  });
}

function namesOf({ name, suite }: RunnerTask): string[] {
  return suite ? [...namesOf(suite), name] : [name];
}
