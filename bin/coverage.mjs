// `npm run test:coverage`: runs `npm test` and counts the lines that it reaches, both those that a test imports and those that run in the
// services and commands it starts. Fails below the floor, and if no test reaches a file.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodedMappings, TraceMap } from '@jridgewell/trace-mapping';

/** Percent of lines: a few points below the measured value, as some lines run only if requests happen to overlap. */
const floor = 92;

/** Files that other tests cover, each under the folders of these tests. */
const elsewhere = [
  // test/cloud, test/contract, test/infra
  /^functions\/cloud\/|^shared\/adapters\/cloud\//,
  // test/package
  /^local\/package\/|^shared\/adapters\/ephemeral\//,
  // test/unit/local/server/digests/worker-digests.test.ts, in threads whose program is another bundle
  /\/digest-thread\.ts$/,
  // test/durability
  /^local\/server\/processes\//,
  // test/cli
  /^local\/server\/doctor\/|\/cli\/commands\/doctor\.ts$|\/table-file\/stored-entries\.ts$/,
  // test/api/server-scrub.test.ts, in programs that are not counted
  /\/release\/outside-release\.ts$/,
  // test/recipes
  /^local\/server\/metrics\//,
  // test/model: commits of which nobody knows how they ended; test/cloud: the scrub of a deployment
  /^shared\/storage\/version-changes\/outcomes\.ts$|^functions\/compose\/scrub\.ts$/,
];

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'coverage');
const dumps = join(out, 'processes');

rmSync(out, { recursive: true, force: true });
mkdirSync(dumps, { recursive: true });
const code = await runTests();
const lines = addTo(linesOfTests(), linesOfProcesses());
rmSync(dumps, { recursive: true });
process.exitCode = report(lines) && code === 0 ? 0 : 1;

function runTests() {
  const coverage = [
    '--coverage.enabled',
    '--coverage.reportOnFailure',
    '--coverage.reporter=json',
    `--coverage.reportsDirectory=${join(out, 'tests')}`,
  ];
  const projects = ['--project', 'unit', '--project', 'service'];
  const tests = spawn('npx', ['vitest', 'run', ...projects, ...coverage, ...process.argv.slice(2)], {
    cwd: root,
    env: { ...process.env, TEST_COVERAGE: dumps },
    stdio: 'inherit',
  });
  return new Promise((resolve) => tests.on('close', resolve));
}

/** The lines on which statements begin, by file: how often each ran in the processes of the tests. Files that no test imports are there, too. */
function linesOfTests() {
  const files = JSON.parse(readFileSync(join(out, 'tests/coverage-final.json'), 'utf8'));
  const found = new Map();
  for (const { path, statementMap, s } of Object.values(files)) {
    const lines = new Map();
    for (const [id, { start }] of Object.entries(statementMap)) {
      lines.set(start.line, Math.max(lines.get(start.line) ?? 0, s[id]));
    }
    found.set(relative(root, path), lines);
  }
  return found;
}

/** The lines that ran in any of the services and commands, by file. */
function linesOfProcesses() {
  const files = readdirSync(join(root, 'dist')).filter((file) => /^stillage(?:-.*)?\.mjs$/.test(file));
  const bundles = new Map(
    files.map((file) => {
      const path = join(root, 'dist', file);
      const code = readFileSync(path, 'utf8');
      return [`file://${path}`, { path, code, ran: new Uint8Array(code.length) }];
    }),
  );
  for (const name of readdirSync(dumps)) {
    const { result } = JSON.parse(readFileSync(join(dumps, name), 'utf8'));
    for (const script of result) {
      const { ran } = bundles.get(script.url) ?? {};
      if (ran === undefined) continue;
      const inThisOne = rangesThatRan(script, ran.length);
      for (let at = 0; at < ran.length; at += 1) ran[at] |= inThisOne[at];
    }
  }
  return new Map([...bundles.values()].flatMap((bundle) => [...sourceLinesOf(bundle)]));
}

/** The lines of sources from which a bundle was made, and which ran in it. No source is in two bundles. */
function sourceLinesOf({ path, code, ran }) {
  const map = new TraceMap(readFileSync(`${path}.map`, 'utf8'));
  const found = new Map(map.sources.map((source) => [source.replace(/^(\.\.\/)+/, ''), new Set()]));
  const sources = [...found.values()];
  let lineStart = 0;
  const starts = code.split('\n').map((line) => (lineStart += line.length + 1) - line.length - 1);
  decodedMappings(map).forEach((segments, line) => {
    for (const [column, source, sourceLine] of segments) {
      if (source !== undefined && ran[starts[line] + column]) sources[source].add(sourceLine + 1);
    }
  });
  return found;
}

/** 1 for each character that ran: ranges lie within one another, and the innermost says. */
function rangesThatRan({ functions }, length) {
  const ran = new Uint8Array(length);
  const ranges = functions.flatMap(({ ranges }) => ranges);
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return ran;
}

function addTo(files, others) {
  for (const [path, lines] of files) {
    const elsewhere = others.get(path);
    for (const [line, count] of lines) if (count === 0 && elsewhere?.has(line)) lines.set(line, 1);
  }
  return files;
}

/** @returns whether enough of the lines were reached */
function report(files) {
  const rows = [...files]
    .filter(([path, lines]) => lines.size > 0 && !elsewhere.some((pattern) => pattern.test(path)))
    .map(([path, lines]) => ({
      path,
      all: lines.size,
      missed: [...lines].filter(([, count]) => count === 0).map(([line]) => line),
    }))
    .sort((a, b) => b.missed.length - a.missed.length);
  for (const { path, all, missed } of rows.slice(0, 20)) {
    console.log(
      `${percent(all - missed.length, all)} ${path}: ${missed.slice(0, 12).join(' ')}${missed.length > 12 ? ' …' : ''}`,
    );
  }
  const unreached = rows.filter(({ all, missed }) => missed.length === all);
  for (const { path } of unreached) console.log(`no test reaches ${path}`);
  const all = rows.reduce((sum, row) => sum + row.all, 0);
  const reached = all - rows.reduce((sum, row) => sum + row.missed.length, 0);
  console.log(`${percent(reached, all)} of ${all} lines are reached; the floor is ${floor} %`);
  return unreached.length === 0 && (reached / all) * 100 >= floor;
}

function percent(part, whole) {
  return `${((part / whole) * 100).toFixed(1).padStart(5)} %`;
}
