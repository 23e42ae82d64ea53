// `npm run check`: types, lint, format, dead code and the fast tests, partly in parallel.
import { spawn } from 'node:child_process';

/** Slow tests, which run in `npm test` only. */
const slow = ['authorisation-matrix', 'edge/router', 'apply-lifecycle', 'scrub/version-chains', 'metadata/listing'];

const steps = [
  [
    'types',
    'tsc',
    ['--noEmit', '-p', '.', '--incremental', '--tsBuildInfoFile', 'node_modules/.cache/check.tsbuildinfo'],
  ],
  [
    'types of the console',
    'tsc',
    [
      '--noEmit',
      '-p',
      'test/console',
      '--incremental',
      '--tsBuildInfoFile',
      'node_modules/.cache/check-console.tsbuildinfo',
    ],
  ],
  ['lint', 'eslint', ['.', '--cache', '--cache-location', 'node_modules/.cache/eslint', '--max-warnings', '0']],
  ['format', 'prettier', ['--check', '--log-level', 'warn', '--cache', '.']],
  [
    'dead code',
    'knip',
    ['--no-progress', '--treat-config-hints-as-errors', '--cache', '--cache-location', 'node_modules/.cache/knip'],
  ],
  [
    'fast tests',
    'vitest',
    [
      ...['run', 'test/unit', 'test/architecture', '--reporter=dot', '--no-isolate'],
      ...slow.flatMap((name) => ['--exclude', `test/unit/**/${name}*`]),
    ],
  ],
];

const results = await Promise.all(steps.map(([name, command, args]) => run(name, command, args)));
process.exitCode = results.every(Boolean) ? 0 : 1;

function run(name, command, args) {
  const started = Date.now();
  return new Promise((resolve) => {
    const child = spawn(`node_modules/.bin/${command}`, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('close', (code) => {
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
      if (code !== 0) process.stdout.write(Buffer.concat(output));
      resolve(code === 0);
    });
  });
}
