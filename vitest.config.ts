import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { workers } from './test/support/shared-services.ts';

const timeouts = { testTimeout: 60_000, hookTimeout: 60_000 };

/** Files of these projects wait for programs that they start, timers and disks, and many do so at once: whatever hangs is ended, and nothing else. */
const waiting = {
  ...{ testTimeout: 180_000, hookTimeout: 180_000 },
  ...{ maxWorkers: 2 * availableParallelism() + 1, sequence: { groupOrder: 1 } },
};

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
  'test/cloud/{administration,background}.test.ts',
];

/** Files that search schedules and inputs, and have a short form: test/support/runs.ts. */
const searches = ['test/model/**/*.test.ts', 'test/stalls/**/*.test.ts'];

export default defineConfig({
  test: {
    maxWorkers: workers,
    sequence: { sequencer: LongestFirst },
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
          ...waiting,
          name: 'searches',
          include: searches,
          setupFiles: ['test/model/tally.ts'],
          isolate: false,
        },
      },
      {
        test: {
          ...waiting,
          name: 'isolated',
          include: isolated,
          globalSetup: ['test/support/build-once.ts'],
        },
      },
      {
        test: {
          ...waiting,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...unit, ...service, ...searches, ...isolated],
          globalSetup: ['test/support/build-once.ts', 'test/support/packed-package.ts'],
          setupFiles: ['test/support/restore-environment.ts'],

          isolate: false,
        },
      },
    ],
  },
});
