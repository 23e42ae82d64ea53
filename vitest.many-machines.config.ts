import { defineConfig } from 'vitest/config';
import { patience } from './test/support/runs/patience.ts';
import { DifferencesReporter } from './test/support/runs/differences-reporter.ts';
import { differences, differentFiles } from './test/many-machines/differences.ts';

/** The tests of the API against a service of many machines: a server for each file, whose data is in PostgreSQL and in a bucket, but for those of test/many-machines/differences.ts. */
export default defineConfig({
  test: {
    include: ['api', 'wire'].map((directory) => `test/${directory}/**/*.test.ts`),
    exclude: [...differentFiles],
    globalSetup: ['test/support/runs/choose-seed.ts', 'test/many-machines/suite-setup.ts'],
    setupFiles: ['test/support/runs/use-seed.ts', 'test/many-machines/skip-differences.ts'],
    isolate: false,
    reporters: ['default', new DifferencesReporter(differences, 'test/many-machines/differences.ts')],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: patience } },
    maxWorkers: 3,
  },
});
