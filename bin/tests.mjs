// Runs a tier of tests (test/tiers.mjs), repeats files that failed, alone, and ends with a line of counts.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cloud, expected, flaky, gate, longForm, quick, strict } from '../test/tiers.mjs';
import { faultsOf, judge } from './verdict.mjs';

const usage = `usage: node bin/tests.mjs quick|gate [folder …] [--counts <file>]

  quick   npm test: functions, and every operation over HTTP
  gate    npm run gate: static checks, npm test, and a short form of what else main must pass

Further folders of tests, such as console, run as well: their usual form is the long one's (npm run test:all).
The seed of random tests is fixed; STILLAGE_SEED chooses another. Exit status: 0 passed, 1 failed, 2 wrong use.`;

const root = fileURLToPath(new URL('..', import.meta.url));
const options = { counts: { type: 'string' }, help: { type: 'boolean', short: 'h' } };
const { values, positionals } = parsed();
const [tier, ...more] = positionals;
if (values.help) {
  console.log(usage);
  process.exit(0);
}
if (tier !== 'quick' && tier !== 'gate') wrongUse(tier === undefined ? 'name a tier' : `no tier is called ${tier}`);

const started = Date.now();
const directory = mkdtempSync(join(tmpdir(), 'stillage-tests-'));
process.on('exit', () => rmSync(directory, { recursive: true }));
const env = { ...process.env, TEST_SHORT: '1', NO_COLOR: '1' };
const total = { passed: 0, failed: 0, skipped: 0 };
const complaints = faultsOf(flaky, strict, Date.now());

const folders = more.map((name) => `test/${name}/`);
if (tier === 'quick') await run('tests', [...quick, ...folders]);
else {
  await step('static checks', 'node', ['bin/check.mjs', '--static']);
  const counts = join(directory, 'counts.json');
  await step('npm test', 'npm', ['test', '--silent', '--', '--counts', counts]);
  count(JSON.parse(readFileSync(counts, 'utf8')));
  await run('other tests of the gate', [...gate, ...folders]);
  await run('tests against a cloud deployment', cloud, 'vitest.cloud.config.ts');
  if (folders.length === 0) {
    if (total.passed < expected.passed) complaints.push(`${total.passed} tests passed, and ${expected.passed} should`);
    if (total.skipped > expected.skipped)
      complaints.push(`${total.skipped} tests were skipped, and at most ${expected.skipped} may be: test/tiers.mjs`);
  }
}
if (values.counts !== undefined) writeFileSync(values.counts, JSON.stringify(total));
for (const complaint of complaints) console.log(`failed: ${complaint}`);
process.exitCode = total.failed === 0 && complaints.length === 0 ? 0 : 1;
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);

function parsed() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return wrongUse(error.message);
  }
}

function wrongUse(message) {
  console.error(`${message}\n${usage}`);
  process.exit(2);
}

function count({ passed, failed, skipped }) {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}

/** Prints what follows, and how long it took. A command that fails does not stop those after it. */
async function step(name, command, args) {
  console.log(`\n== ${name} (after ${seconds()} s)`);
  const code = await execute(command, args);
  if (code !== 0) complaints.push(`${name} ended with ${code}`);
}

function execute(command, args) {
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve) => child.on('close', resolve));
}

/** Runs the files whose paths begin with one of these entries, and those that failed once more. */
async function run(name, entries, config = 'vitest.config.ts') {
  console.log(`\n== ${name} (after ${seconds()} s)`);
  const first = await vitest(config, filesOf(entries));
  count(first);
  if (first.failures.length === 0) {
    if (first.code !== 0) complaints.push(`${name}: an error that belongs to no test (see above)`);
    return;
  }
  const failed = [...new Set(first.failures.map(({ file }) => file))];
  console.log(`\n== ${failed.length} files once more, alone (after ${seconds()} s)`);
  const second = await vitest(config, [...failed, '--maxWorkers=1', '--no-file-parallelism']);
  const verdict = judge(first.failures, second.failures, { flaky, strict });
  for (const { test, message } of verdict.flaky) console.log(`FLAKY ${test}\n${indented(message)}`);
  for (const { test, message } of verdict.failed) console.log(`FAILED ${test}\n${indented(message)}`);
  total.failed -= verdict.flaky.length;
  total.passed += verdict.flaky.length;
}

/** The test files of entries, without those of the long form but where a folder of them is named. */
function filesOf(entries) {
  const names = readdirSync(join(root, 'test'), { recursive: true }).filter((name) => name.endsWith('.test.ts'));
  const files = names.map((name) => `test/${name}`).filter((file) => entries.some((entry) => file.startsWith(entry)));
  const isNamed = (file) => folders.some((folder) => file.startsWith(folder));
  return files.filter((file) => isNamed(file) || !longForm.some((entry) => file.startsWith(entry)));
}

async function vitest(config, args) {
  const out = join(directory, `${String(Math.random()).slice(2)}.json`);
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${out}`];
  const code = await execute('node', ['node_modules/vitest/vitest.mjs', 'run', '-c', config, ...reporters, ...args]);
  const { testResults, numPassedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(out, 'utf8'));
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const tests = assertionResults.filter((result) => result.status === 'failed');
    // A file that could not be loaded, or whose hooks failed, has no test that failed.
    if (tests.length === 0) return status === 'failed' ? [{ file, test: file, message }] : [];
    return tests.map(({ ancestorTitles, title, failureMessages }) => ({
      file,
      test: [file, ...ancestorTitles, title].join(' > '),
      message: failureMessages.join('\n'),
    }));
  });
  const times = testResults.map(({ name, startTime, endTime }) => [
    Math.round((endTime - startTime) / 1000),
    relative(root, name),
  ]);
  const slowest = times.sort(([a], [b]) => b - a).slice(0, 12);
  console.log(
    `\nthe slowest of ${times.length} files:\n${slowest.map(([took, file]) => `${String(took).padStart(6)} s  ${file}`).join('\n')}`,
  );
  return { code, failures, passed: numPassedTests, failed: failures.length, skipped: numPendingTests + numTodoTests };
}

function indented(text) {
  return text.replace(/^/gm, '  ');
}

function seconds() {
  return Math.round((Date.now() - started) / 1000);
}
