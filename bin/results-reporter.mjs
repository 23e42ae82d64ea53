// A reporter of Vitest: writes what bin/tests.mjs counts and judges to the file TEST_RESULTS, errors that belong to no test included.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

export default class ResultsReporter {
  onInit({ config }) {
    this.root = config.root;
  }

  onTestRunEnd(modules, unhandledErrors) {
    const files = modules.map((module) => this.resultsOf(module));
    writeFileSync(process.env.TEST_RESULTS, JSON.stringify({ files, unhandled: unhandledErrors.length }));
  }

  resultsOf(module) {
    const file = relative(this.root, module.moduleId);
    const found = [...module.children.allTests()].map((test) => ({ test, ...test.result() }));
    const failures = found
      .filter(({ state }) => state === 'failed')
      .map(({ test, errors }) => ({ file, test: `${file} > ${test.fullName}`, message: messageOf(errors) }));
    // A file that could not be loaded, or whose hooks failed, has no test that failed.
    if (failures.length === 0 && module.state() === 'failed') {
      const errors = [module, ...module.children.allSuites()].flatMap((part) => part.errors());
      failures.push({ file, test: file, message: messageOf(errors) });
    }
    const passed = found.filter(({ state }) => state === 'passed').length;
    const skipped = found.filter(({ state }) => state === 'skipped' || state === 'pending').length;
    return { file, failures, passed, skipped, milliseconds: module.diagnostic().duration };
  }
}

/** The stack of a test that hung begins with no message, but with the name of an error of Vitest's. */
function messageOf(errors) {
  return errors
    .map(({ name, message, stack = '' }) => [`${name}: ${message}`, ...framesOf(stack)].join('\n'))
    .join('\n');
}

function framesOf(stack) {
  return stack.split('\n').filter((line) => line.startsWith('    at '));
}
