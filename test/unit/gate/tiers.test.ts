import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const clone = join(import.meta.dirname, '../../..');
const passing = "import { it } from 'vitest';\nit('passes', () => undefined);\n";
const failing = "import { it } from 'vitest';\nit('fails', () => { throw new Error('no'); });\n";

/** The first time, `what` happens; when the file is repeated, all is well. */
function once(what: string): string {
  return `import { existsSync, writeFileSync } from 'node:fs';
    import { it } from 'vitest';
    const isFirst = !existsSync('been-here');
    writeFileSync('been-here', '');
    ${what}`;
}

/** A small clone, with the program that runs the tests and nothing else of the project. */
let root: string;

function plant(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stillage-tiers-'));
  const config = "export default { test: { include: ['test/**/*.test.ts'] } };";
  plant({
    'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node bin/tests.mjs quick' } }),
    'vitest.config.ts': config,
    'vitest.cloud.config.ts': config,
    'vitest.many-machines.config.ts': config,
    'bin/check.mjs': '',
    'test/tiers.mjs': `export const [quick, gate] = [['test/api/'], ['test/cli/']];
      export const [cloud, manyMachines] = [['test/api/'], ['test/api/']];
      export const [longForm, flaky, strict] = [[], [], []];
      export const expected = { passed: 4, skipped: {} };`,
    'test/api/passing.test.ts': passing,
    'test/cli/passing.test.ts': passing,
  });
  for (const name of ['tests.mjs', 'verdict.mjs', 'results-reporter.mjs']) {
    copyFileSync(join(clone, 'bin', name), join(root, 'bin', name));
  }
  symlinkSync(join(clone, 'node_modules'), join(root, 'node_modules'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Runs a tier to its end. */
function runTier(tier: string): { readonly status: number | null; readonly output: string; readonly last: string } {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:VITEST|TEST)/.test(name)));
  const { status, stdout } = spawnSync(process.execPath, ['bin/tests.mjs', tier], { cwd: root, encoding: 'utf8', env });
  return { status, output: stdout, last: stdout.trimEnd().split('\n').at(-1)! };
}

describe('npm test', () => {
  it('fails if a test fails twice', () => {
    plant({ 'test/api/failing.test.ts': failing });
    const { status, output, last } = runTier('quick');
    expect({ status, last }).toEqual({ status: 1, last: '1 passed, 1 failed, 0 skipped' });
    expect(output).toContain('FAILED test/api/failing.test.ts > fails\n  Error: no');
  });

  it('passes if a test timed out and passes when its file is repeated, and says so', () => {
    const slow = once(
      "it('is slow', () => (isFirst ? new Promise(() => undefined) : undefined), isFirst ? 1 : undefined);",
    );
    plant({ 'test/api/slow.test.ts': slow });
    const { status, output, last } = runTier('quick');
    expect({ status, last }).toEqual({ status: 0, last: '2 passed, 0 failed, 0 skipped' });
    expect(output).toContain('FLAKY test/api/slow.test.ts > is slow\n  Error: Test timed out in 1ms');
  });

  it('fails if an assertion failed once, and if an error of no test was thrown', () => {
    plant({ 'test/api/wrong.test.ts': once("it('is wrong', () => { if (isFirst) throw new Error('no'); });") });
    expect(runTier('quick')).toMatchObject({ status: 1, last: '1 passed, 1 failed, 0 skipped' });
    rmSync(join(root, 'test/api/wrong.test.ts'));
    rmSync(join(root, 'been-here'));
    const thrown = `if (isFirst) void Promise.reject(new Error('of no test'));
      it('is slow', () => (isFirst ? new Promise(() => undefined) : undefined), isFirst ? 1 : undefined);`;
    plant({ 'test/api/thrown.test.ts': once(thrown) });
    const { status, output } = runTier('quick');
    expect(status).toBe(1);
    expect(output).toContain('failed: tests: an error that belongs to no test');
  });
});

describe('the gate', () => {
  it('passes with the tests that it expects, those against other deployments included', () => {
    expect(runTier('gate')).toMatchObject({ status: 0, last: '4 passed, 0 failed, 0 skipped' });
  });

  it('fails if static checks fail, if a test is skipped that should not be, and if one is gone', () => {
    plant({
      'bin/check.mjs': 'process.exitCode = 1;',
      'test/cli/passing.test.ts': passing.replace('it(', 'it.skip('),
    });
    const { status, output, last } = runTier('gate');
    expect({ status, last }).toEqual({ status: 1, last: '3 passed, 0 failed, 1 skipped' });
    expect(output).toContain('failed: static checks ended with 1\n');
    expect(output).toContain('failed: 3 tests passed, and 4 should\n');
    expect(output).toContain('failed: 1 tests of test/cli/passing.test.ts were skipped, and 0 should be\n');
  });
});
