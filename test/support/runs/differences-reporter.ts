import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { findDifference, type Difference } from './differences.ts';

/** Checks the skipped tests against the list of differences, and prints each with its reason. */
export class DifferencesReporter implements Reporter {
  readonly #differences: readonly Difference[];
  readonly #list: string;

  /** @param list the path of the file with the differences, for messages */
  constructor(differences: readonly Difference[], list: string) {
    this.#differences = differences;
    this.#list = list;
  }

  /** Not at the end alone, which is a quarter of an hour away. */
  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    if (state !== 'failed') return;
    const file = relative(process.cwd(), test.module.moduleId);
    console.error(`FAILED ${file} > ${test.fullName}: ${errors.map(({ message }) => message).join('; ')}`);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const differences = this.#differences;
    const list = this.#list;
    const found = new Map<Difference, number>();
    const unlisted: string[] = [];
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      for (const test of module.children.allTests('skipped')) {
        const difference = findDifference(differences, file, test.fullName);
        if (difference) found.set(difference, (found.get(difference) ?? 0) + 1);
        else if (!isWithoutProgram(file, test)) unlisted.push(`${file} > ${test.fullName}${noteOf(test)}`);
      }
    }
    const ran = new Set(modules.map(({ moduleId }) => relative(process.cwd(), moduleId)));
    const idle = differences.filter((difference) => ran.has(difference.file) && !found.has(difference));

    for (const [{ file, reason }, count] of found) console.info(`SKIPPED ${count} of ${file}: ${reason}`);
    for (const { file, reason, tests } of differences) if (!tests) console.info(`SKIPPED ${file}: ${reason}`);
    for (const test of unlisted) console.error(`skipped, and not in ${list}: ${test}`);
    for (const { file, tests } of idle) console.error(`in ${list}, and not skipped: ${file} > ${tests?.join(', ')}`);
    if (unlisted.length + idle.length > 0) process.exitCode = 1;
  }
}

/** Whether a test was skipped because its client, or a browser, is not installed. */
function isWithoutProgram(file: string, test: TestCase): boolean {
  return /^test\/(?:clients|console)\//.test(file) && noteOf(test) !== '';
}

function noteOf(test: TestCase): string {
  const result = test.result();
  return result.state === 'skipped' && result.note ? `: ${result.note}` : '';
}
