import { findDifference, tableOfDifferences, type Difference } from '../support/runs/differences.ts';

/** All of them. The run fails if any other test is skipped, or if one of these runs. */
export const differences: readonly Difference[] = [];

/** The files of which no test runs. */
export const differentFiles: readonly string[] = differences.filter(({ tests }) => !tests).map(({ file }) => file);

/** Returns the entry for a test that does not run. @param name with the names of the enclosing suites, joined by ` > ` */
export function differenceOf(file: string, name: string): Difference | undefined {
  return findDifference(differences, file, name);
}

/** Returns the table of docs/many-machines.md, as Markdown. */
export function differencesTable(): string {
  return tableOfDifferences(differences);
}
