import { relative } from 'node:path';
import { beforeEach, type RunnerTask } from 'vitest';
import { differenceOf } from './differences.ts';

/** Skips tests that differ in the cloud, with the reason. */
beforeEach((context) => {
  const { task, skip } = context;
  const file = relative(process.cwd(), task.file.filepath);
  const difference = differenceOf(file, namesOf(task).join(' > '));
  if (difference) skip(difference.reason);
});

function namesOf({ name, suite }: RunnerTask): string[] {
  return suite ? [...namesOf(suite), name] : [name];
}
