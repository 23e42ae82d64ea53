// `npm run check`: types, lint, format, dead code and the fast tests, as many at once as there are processors; with `--static`, no tests.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Files of test/unit that take long, because of disks, processes, timers or many cases: `npm test` runs them. */
const slow = [
  ...[
    'adapters/**',
    'gate/tiers*',
    'lint/**',
    'local/server/schedules/background-scrub*',
    'scrub/**',
    'storage/listings/**',
    '{billing,monitoring}/s*',
  ],
  ...['{storage/objects/manifests,billing/folded-usage,storage/{removal/sweep,uploads/old-parts,utf8-order}}*'],
  ...['access/policies/policy-steps*', 'protocol/authorisation/{authorisation-matrix,request-authoriser}*'],
  ...['**/apply-lifecycle*', 'cloud/edge/router*', 'protocol/bodies/documents*', 'documents/text*'],
];

const cache = 'node_modules/.cache';

/** Properties are tried with fewer cases: test/support/runs/runs.ts. */
const env = { ...process.env, TEST_SHORT: '1', PATH: `node_modules/.bin:${process.env.PATH}` };

const fastTests = [
  'fast tests',
  'vitest',
  ...['run', 'test/unit', 'test/architecture', '--reporter=dot', '--no-isolate'],
  `--maxWorkers=${Math.max(1, availableParallelism() - 1)}`,
  ...slow.flatMap((files) => ['--exclude', `test/unit/${files}`]),
];
const lint = ['lint', 'oxlint'];
const others = [
  ['outcomes of writes', 'node', 'bin/handled-outcomes.mjs'],
  ['types', ...typesOf('.', 'check')],
  [
    'dead code',
    'knip',
    '--no-progress',
    '--treat-config-hints-as-errors',
    '--cache',
    '--cache-location',
    `${cache}/knip`,
  ],
  ['format', 'prettier', '--check', '--log-level', 'warn', '--cache', '.'],
  ['types of the console', ...typesOf('test/console', 'check-console')],
];

/** The native compiler takes less than half the time of the one in JavaScript, whose interface bin/handled-outcomes.mjs uses. */
function typesOf(project, name) {
  const remembered = ['--incremental', '--tsBuildInfoFile', `${cache}/${name}.tsbuildinfo`];
  return ['node_modules/typescript-native/bin/tsc', '--noEmit', '-p', project, ...remembered];
}

/** In the order in which they start: whatever takes longest first, which is lint if nothing is cached. */
const steps = process.argv.includes('--static') ? [lint, ...others] : [fastTests, ...others, lint];

const started = Date.now();
const waiting = [...steps];
const failed = [];
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, runInTurn));
console.log(`${failed.length === 0 ? 'ok' : 'FAIL'} after ${seconds(started)} s`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function runInTurn() {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
    if (!(await run(...step))) failed.push(step);
  }
}

function run(name, command, ...args) {
  const started = Date.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('close', (code) => {
      console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds(started)} s)`);
      if (code !== 0) process.stdout.write(Buffer.concat(output));
      resolve(code === 0);
    });
  });
}

function seconds(since) {
  return ((Date.now() - since) / 1000).toFixed(1);
}
