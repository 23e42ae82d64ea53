// Runs a tier of tests (test/tiers.mjs), repeats files that failed, alone, and ends with a line of counts.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cloud, expected, flaky, gate, longForm, manyMachines, quick, strict } from '../test/tiers.mjs';
import { differences, faultsOf, judge } from './verdict.mjs';

const usage = `usage: node bin/tests.mjs quick|gate|cloud [folder …] [--counts <file>]

  quick   npm test: functions, and every operation over HTTP
  gate    npm run gate: static checks, npm test, and a short form of what else main must pass
  cloud   npm run test:cloud:some: some operations against a cloud deployment, as the gate does

Further folders of tests, such as console, run as well: their usual form is the long one's (npm run test:all).
The seed of random tests is fixed; TEST_SEED chooses another. Exit status: 0 passed, 1 failed, 2 wrong use.`;

const root = fileURLToPath(new URL('..', import.meta.url));
const options = { counts: { type: 'string' }, help: { type: 'boolean', short: 'h' } };
const { values, positionals } = parsed();
const [tier, ...more] = positionals;
if (values.help) {
  console.log(usage);
  process.exit(0);
}
if (!['quick', 'gate', 'cloud'].includes(tier))
  wrongUse(tier === undefined ? 'name a tier' : `no tier is called ${tier}`);

const started = Date.now();
const directory = mkdtempSync(join(tmpdir(), 'stillage-tests-'));
process.on('exit', () => rmSync(directory, { recursive: true }));
const env = { ...process.env, TEST_SHORT: '1', NO_COLOR: '1' };
const total = { passed: 0, failed: 0, skipped: {} };
const complaints = faultsOf(flaky, strict, Date.now());

const folders = more.map((name) => `test/${name}/`);
if (tier === 'quick') await run('tests', [...quick, ...folders]);
if (tier === 'gate') {
  await step('static checks', 'node', ['bin/check.mjs', '--static']);
  const counts = join(directory, 'counts.json');
  await step('npm test', 'npm', ['test', '--silent', '--', '--counts', counts]);
  if (existsSync(counts)) count(JSON.parse(readFileSync(counts, 'utf8')));
  await run('other tests of the gate', [...gate, ...folders]);
}
if (tier !== 'quick') await run('tests against a cloud deployment', cloud, 'vitest.cloud.config.ts');
if (tier === 'gate') await run('tests on many machines', manyMachines, 'vitest.many-machines.config.ts');
if (tier === 'gate' && folders.length === 0) complaints.push(...differences(total, expected));
if (values.counts !== undefined) writeFileSync(values.counts, JSON.stringify(total));
for (const complaint of complaints) console.log(`failed: ${complaint}`);
process.exitCode = total.failed === 0 && complaints.length === 0 ? 0 : 1;
const skipped = Object.values(total.skipped).reduce((sum, number) => sum + number, 0);
console.log(`${total.passed} passed, ${total.failed} failed, ${skipped} skipped`);

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
  for (const [file, number] of Object.entries(skipped)) total.skipped[file] = (total.skipped[file] ?? 0) + number;
}

function countFile({ file, passed, skipped }) {
  count({ passed, failed: 0, skipped: skipped === 0 ? {} : { [file]: skipped } });
}

/** Prints what follows, and how long it took. A command that fails does not stop those after it. */
async function step(name, command, args) {
  console.log(`\n== ${name} (after ${seconds()} s)`);
  const code = await execute(command, args);
  if (code !== 0) complaints.push(`${name} ended with ${code}`);
}

function execute(command, args, more = {}) {
  const child = spawn(command, args, { cwd: root, env: { ...env, ...more }, stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve) => child.on('close', resolve));
}

/** Runs the files whose paths begin with one of these entries, and those that failed once more: these count as the second time. */
async function run(name, entries, config = 'vitest.config.ts') {
  console.log(`\n== ${name} (after ${seconds()} s)`);
  const first = await vitest(name, config, filesOf(entries));
  const failed = first.filter(({ failures }) => failures.length > 0);
  first.filter(({ failures }) => failures.length === 0).forEach(countFile);
  if (failed.length === 0) return;
  console.log(`\n== ${failed.length} files once more, alone (after ${seconds()} s)`);
  const alone = ['--maxWorkers=1', '--no-file-parallelism'];
  const second = await vitest(name, config, [...failed.map(({ file }) => file), ...alone]);
  const [before, after] = [failed, second].map((files) => files.flatMap(({ failures }) => failures));
  const verdict = judge(before, after, { flaky, strict });
  for (const { test, message } of verdict.flaky) console.log(`FLAKY ${test}\n${indented(message)}`);
  for (const { test, message } of verdict.failed) console.log(`FAILED ${test}\n${indented(message)}`);
  second.forEach(countFile);
  // What has failed although it passed the second time is no test that passed.
  count({ passed: after.length - verdict.failed.length, failed: verdict.failed.length, skipped: {} });
}

/** The test files of entries, without those of the long form but where a folder of them is named. */
function filesOf(entries) {
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.test.ts'),
  );
  const files = names.map((name) => `test/${name}`).filter((file) => entries.some((entry) => file.startsWith(entry)));
  const isNamed = (file) => folders.some((folder) => file.startsWith(folder));
  return files.filter((file) => isNamed(file) || !longForm.some((entry) => file.startsWith(entry)));
}

/** Runs Vitest, and returns what bin/results-reporter.mjs says of each file. Whatever else goes wrong is a complaint. */
async function vitest(name, config, args) {
  const out = join(directory, `${String(Math.random()).slice(2)}.json`);
  const reporters = ['--reporter=dot', '--reporter=./bin/results-reporter.mjs'];
  const words = ['node_modules/vitest/vitest.mjs', 'run', '-c', config, ...reporters, ...args];
  const code = await execute('node', words, { TEST_RESULTS: out });
  if (!existsSync(out)) {
    complaints.push(`${name}: Vitest ended with ${code} before the tests`);
    return [];
  }
  const { files, unhandled } = JSON.parse(readFileSync(out, 'utf8'));
  const hasFailed = files.some(({ failures }) => failures.length > 0);
  if (unhandled > 0 || (code !== 0 && !hasFailed))
    complaints.push(`${name}: an error that belongs to no test (see above)`);
  const slowest = files.toSorted((a, b) => b.milliseconds - a.milliseconds).slice(0, 12);
  console.log(`\nthe slowest of ${files.length} files:`);
  for (const { file, milliseconds } of slowest)
    console.log(`${(milliseconds / 1000).toFixed().padStart(6)} s  ${file}`);
  return files;
}

function indented(text) {
  return text.replace(/^/gm, '  ');
}

function seconds() {
  return Math.round((Date.now() - started) / 1000);
}
