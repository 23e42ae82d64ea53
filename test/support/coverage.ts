/** The environment in which a process writes down what of it ran, where `npm run test:coverage` asks for it: bin/coverage.mjs. */
export const coverageEnvironment: Readonly<Record<string, string>> = process.env['STILLAGE_TEST_COVERAGE']
  ? { NODE_V8_COVERAGE: process.env['STILLAGE_TEST_COVERAGE'] }
  : {};
