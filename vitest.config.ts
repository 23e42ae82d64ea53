import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build-once.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores: most suites wait for a server of their own.
    maxWorkers: 3,
    coverage: { provider: 'v8', include: ['shared/**', 'functions/**', 'infra/**'] },
  },
});
