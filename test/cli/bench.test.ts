import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../support/programs/programs.ts';

const repository = join(import.meta.dirname, '../..');

const bench = (...args: readonly string[]) =>
  run(process.execPath, ['--import', 'tsx', 'test/bench/bench.ts', ...args], { cwd: repository, codes: [0, 1] });

describe('npm run bench', () => {
  it('says what it can do', async () => {
    const { stdout } = await bench('--help');
    for (const command of [
      'requests',
      'signatures',
      'cold-starts',
      'ephemeral',
      'folded-listing',
      'fairness',
      'lifecycle',
      'backup',
      'stalls',
    ])
      expect(stdout).toContain(`\n  ${command}`);
  });

  it.each([
    [['requests', '--rounds', '0'], 'It must be a whole number above 0.'],
    [['requests', '--only', '('], 'It must be a regular expression.'],
    [['requests', '--only', 'PAT'], 'No case has such a name. The cases: PUT 4 KiB c1; '],
    [['backup', '--objects', '0'], 'It must be a whole number above 0.'],
    [['lifecycle', '1000', '2'], 'It must be a number from 0 to 1.'],
    [['requests', '--fast'], "unknown option '--fast'"],
  ])('refuses %s in one line', async (args, line) => {
    const { code, stdout, stderr } = await bench(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(line);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
