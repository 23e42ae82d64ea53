/** The environment in which a process records its coverage, if `npm run test:coverage` requests it: bin/coverage.mjs. */
export const coverageEnvironment: Readonly<Record<string, string>> = process.env['TEST_COVERAGE']
  ? { NODE_V8_COVERAGE: process.env['TEST_COVERAGE'] }
  : {};
