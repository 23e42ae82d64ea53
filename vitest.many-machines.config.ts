import { defineConfig } from 'vitest/config';
import { patience } from './test/support/runs/patience.ts';
import { withDataDirectory } from './test/many-machines/differences.ts';

/** The tests of the API against a service of many machines: a server for each file, whose data is in PostgreSQL and in a bucket. */
export default defineConfig({
  test: {
    include: ['api', 'wire'].map((directory) => `test/${directory}/**/*.test.ts`),
    exclude: [...withDataDirectory],
    globalSetup: ['test/support/runs/choose-seed.ts', 'test/many-machines/suite-setup.ts'],
    setupFiles: ['test/support/runs/use-seed.ts'],
    isolate: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: patience } },
    maxWorkers: 3,
  },
});
