/** Tests of the API that do not run against a deployment other than that on one machine. */
export interface Difference {
  /** The reason, for users of the deployment. */
  readonly reason: string;
  /** The path from the root of the repository. */
  readonly file: string;
  /**
   * Names of tests or of enclosing suites, joined by ` > `; for a suite that runs several times under several names, the names inside.
   * Absent: all tests of the file.
   */
  readonly tests?: readonly string[];
}

/** Returns the entry for a test that does not run. @param name with the names of the enclosing suites, joined by ` > ` */
export function findDifference(differences: readonly Difference[], file: string, name: string): Difference | undefined {
  const isOf = ({ tests = [name] }: Difference): boolean =>
    tests.some((part) => name === part || name.startsWith(`${part} > `) || name.endsWith(` > ${part}`));
  return differences.find((difference) => difference.file === file && isOf(difference));
}

/** Returns the table for the documentation, as Markdown. */
export function tableOfDifferences(differences: readonly Difference[]): string {
  const reasons = [...new Set(differences.map(({ reason }) => reason))];
  const what = ({ file, tests }: Difference): string => {
    const path = `\`${file}\``;
    return tests ? `${path}: ${tests.map((name) => `“${name.split(' > ').at(-1)}”`).join(', ')}` : path;
  };
  const rows = reasons.map(
    (reason) =>
      `| ${differences
        .filter((one) => one.reason === reason)
        .map(what)
        .join('<br>')} | ${reason} |`,
  );
  return ['| test | reason |', '|---|---|', ...rows].join('\n');
}
