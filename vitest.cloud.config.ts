import { defineConfig } from 'vitest/config';
import { DifferencesReporter } from './test/support/runs/differences-reporter.ts';
import { differences, differentFiles } from './test/cloud/differences.ts';
import { noEngine } from './test/support/cloud/moto.ts';
import { isInstalled } from './test/support/programs/programs.ts';
import { patience } from './test/support/runs/patience.ts';

const hasEngine = isInstalled('moto_server', ['--help']);
if (!hasEngine) console.warn(`SKIPPED, the tests of the API in the cloud: ${noEngine}`);

/**
 * The tests of the API, of its clients and of the console, against a deployment in the cloud as its templates describe it: the files that
 * run against a server each otherwise, but for those of test/cloud/differences.ts.
 */
export default defineConfig({
  test: {
    include: hasEngine
      ? ['api', 'wire', 'clients', 'console'].map((directory) => `test/${directory}/**/*.test.ts`)
      : [],
    passWithNoTests: !hasEngine,
    exclude: [...differentFiles],
    globalSetup: ['test/support/runs/choose-seed.ts', 'test/cloud/suite-setup.ts'],
    setupFiles: ['test/support/runs/use-seed.ts', 'test/cloud/skip-differences.ts'],
    // What a file imports takes longer than most files.
    isolate: false,
    reporters: ['default', new DifferencesReporter(differences, 'test/cloud/differences.ts')],
    // Through engines in Python, and a queue before them, every call takes its time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: patience } },
    // While one waits until versioning has settled, others go on.
    maxWorkers: 4,
  },
});
