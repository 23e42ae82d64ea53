/*
 * Which tests run when: bin/tests.mjs runs them, docs/testing.md describes them. An entry is the beginning of the paths of test files; a file
 * that no entry names belongs to the long form alone.
 */

/** `npm test`: functions, and every operation over HTTP. */
export const quick = ['test/unit/', 'test/architecture/', 'test/api/', 'test/wire/'];

/** What the gate adds: durability, concurrency, the command line, the templates, and one flow through the console. */
export const gate = [
  'test/contract/embedded',
  'test/contract/ephemeral',
  'test/contract/cloud',
  'test/contract/postgres',
  'test/simulation/',
  'test/power-loss/',
  'test/durability/synced-before-answer',
  'test/durability/kill-under-load',
  'test/fuzz/',
  'test/cli/',
  'test/costs/',
  'test/infra/',
  'test/console/sign-in',
  'test/resources/anonymous-bursts',
  'test/recipes/platform',
  'test/many-machines/',
  'test/recipes/deploy',
];

/** Files in those folders that belong to the long form: each takes half a minute and more, and their promise has a shorter test there. */
export const longForm = [
  'test/infra/changes',
  'test/infra/lint',
  'test/infra/preflight',
  'test/power-loss/freed-content',
  'test/power-loss/recovery',
  'test/cli/bench',
  'test/cli/doctor-damaged-pages',
  'test/cli/emptying',
  'test/many-machines/round-trips-table',
  'test/many-machines/pooler',
  'test/many-machines/failover',
];

/** What the gate runs against a deployment in the cloud as its templates describe it: vitest.cloud.config.ts. */
export const cloud = [
  'test/api/bucket-acl',
  'test/api/create-bucket',
  'test/api/put-object',
  'test/api/list-multipart',
  'test/wire/virtual-hosts',
];

/** What the gate runs against a service of many machines: vitest.many-machines.config.ts. */
export const manyMachines = [
  'test/api/put-object',
  'test/api/list-objects',
  'test/api/object-lock.test',
  'test/api/complete-multipart',
  'test/api/iam.test',
];

/**
 * Tests that may fail once and pass when they are repeated, until their cause is gone: at most three, each for 14 days at most. Tests of a
 * promise about data ({@link strict}) cannot be listed.
 *
 * @type {readonly { readonly test: string, readonly cause: string, readonly owner: string, readonly until: string }[]}
 *   `test/api/x.test.ts > group > name`; the last day, as in `2026-12-01`
 */
export const flaky = [];

/** Folders in which an assertion that failed once has failed, even if it holds when it is repeated. */
export const strict = [
  'test/unit/',
  'test/architecture/',
  'test/contract/',
  'test/model/',
  'test/fuzz/',
  'test/simulation/',
  'test/linearizability/',
  'test/durability/',
  'test/power-loss/',
];

/**
 * What the gate must find: at least so many tests that pass, a little less than there are, and exactly these that are skipped, by file.
 * `visit` of the port of the table is optional, and only the embedded table has it: five tests of its contract are skipped for each
 * of the other tables (two in the cloud: over moto, and over the engine of the tests). Moto also compares values of different types.
 */
export const expected = {
  passed: 12_400,
  skipped: {
    'test/contract/cloud.test.ts': 11,
    'test/contract/ephemeral.test.ts': 5,
    'test/contract/postgres.test.ts': 5,
  },
};
