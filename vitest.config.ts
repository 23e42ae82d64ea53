import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { workers } from './test/support/shared-services.ts';

/** Files of these projects mostly wait: for programs that they start, timers and disks. */
const waiting = { maxWorkers: 2 * availableParallelism() + 1, sequence: { groupOrder: 1 } };

const timeouts = { testTimeout: 60_000, hookTimeout: 60_000 };

/** Files of pure functions: nothing of theirs needs a process of its own. */
const unit = ['test/unit/**/*.test.ts', 'test/architecture/**/*.test.ts'];

/** Files that talk to a service, which most share: test/support/service-under-test.ts. */
const service = ['test/api/**/*.test.ts', 'test/wire/**/*.test.ts'];

/**
 * Files that examine their own process, or load and change much in it: each gets a process of its own. All others start programs, or look at
 * what those have written, and share processes: what a file imports takes longer than many a file.
 */
const isolated = [
  'test/{bench,contract,costs,fuzz,linearizability,simulation,soak}/**/*.test.ts',
  'test/package/{embedded,kits}.test.ts',
];

/** Files that search schedules and inputs, and have a short form: test/support/runs.ts. */
const searches = ['test/model/**/*.test.ts', 'test/stalls/**/*.test.ts'];

export default defineConfig({
  test: {
    maxWorkers: workers,
    coverage: { provider: 'v8', include: ['shared/**/*.ts', 'functions/**/*.ts'] },
    projects: [
      {
        test: {
          ...timeouts,
          name: 'unit',
          include: unit,
          globalSetup: ['test/support/build-once.ts'],
          isolate: false,
        },
      },
      {
        test: {
          ...timeouts,
          name: 'service',
          include: service,
          globalSetup: ['test/support/shared-services.ts'],
          isolate: false,
        },
      },
      {
        test: {
          ...timeouts,
          ...waiting,
          name: 'searches',
          include: searches,
          setupFiles: ['test/model/tally.ts'],
          isolate: false,
        },
      },
      {
        test: {
          ...timeouts,
          ...waiting,
          name: 'isolated',
          include: isolated,
          globalSetup: ['test/support/build-once.ts'],
        },
      },
      {
        test: {
          ...timeouts,
          ...waiting,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...unit, ...service, ...searches, ...isolated],
          globalSetup: ['test/support/build-once.ts', 'test/support/packed-package.ts'],
          isolate: false,
        },
      },
    ],
  },
});
