import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { sources } from './bin/roots.mjs';
import { patience } from './test/support/runs/patience.ts';
import { LongestFirst } from './test/support/runs/longest-first.ts';
import { workers } from './test/support/programs/shared-services.ts';

/** Whatever hangs is ended, and nothing else: not what a busy machine does slowly. */
const timeouts = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: patience } } };

/** What all files have in common. */
const usual = { ...timeouts, setupFiles: ['test/support/runs/use-seed.ts'] };

/** Files of these projects wait for programs that they start, timers and disks: more of them run at once. */
const waiting = { ...usual, maxWorkers: 2 * availableParallelism() + 1, sequence: { groupOrder: 1 } };

/** Files of pure functions: nothing of theirs needs a process of its own. */
const unit = ['test/unit/**/*.test.ts', 'test/architecture/**/*.test.ts'];

/** Files that talk to a service, which most share: test/support/programs/service-under-test.ts. */
const service = ['test/api/**/*.test.ts', 'test/wire/**/*.test.ts'];

/**
 * Files that examine their own process, or load and change much in it: each gets a process of its own. All others start programs, or look at
 * what those have written, and share processes: what a file imports takes longer than many a file.
 */
const isolated = [
  'test/{adversary,bench,contract,costs,fuzz,linearizability,simulation,soak}/**/*.test.ts',
  'test/package/{embedded,kits}.test.ts',
  'test/cloud/{administration,background}.test.ts',
];

/** Files that search schedules and inputs, and have a short form: test/support/runs/runs.ts. */
const searches = ['test/model/**/*.test.ts', 'test/stalls/**/*.test.ts'];

export default defineConfig({
  test: {
    maxWorkers: workers,
    globalSetup: ['test/support/runs/choose-seed.ts'],
    sequence: { sequencer: LongestFirst },
    coverage: { provider: 'v8', include: sources.map((folder) => `${folder}/**/*.ts`) },
    projects: [
      {
        test: {
          ...usual,
          name: 'unit',
          include: unit,
          globalSetup: ['test/support/programs/build-once.ts'],
          isolate: false,
        },
      },
      {
        test: {
          ...usual,
          name: 'service',
          include: service,
          globalSetup: ['test/support/programs/shared-services.ts'],
          isolate: false,
        },
      },
      {
        test: {
          ...waiting,
          name: 'searches',
          include: searches,
          setupFiles: [...usual.setupFiles, 'test/model/tally.ts'],
          isolate: false,
        },
      },
      {
        test: {
          ...waiting,
          name: 'isolated',
          include: isolated,
          globalSetup: ['test/support/programs/build-once.ts'],
        },
      },
      {
        test: {
          ...waiting,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...unit, ...service, ...searches, ...isolated],
          globalSetup: ['test/support/programs/build-once.ts', 'test/support/programs/packed-package.ts'],
          setupFiles: [...usual.setupFiles, 'test/support/runs/restore-environment.ts'],

          isolate: false,
        },
      },
    ],
  },
});
