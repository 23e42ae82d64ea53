import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readFlags } from '../../local/cli/program.ts';
import { startOption } from '../../shared/command-line/option.ts';
import { readAs } from '../../shared/command-line/option-values.ts';
import { chosenSize } from '../../shared/command-line/sizes.ts';
import { asUser } from '../support/programs/as-user.ts';

const root = join(import.meta.dirname, '../..');
const stillage = join(root, 'bin/stillage.cjs');

function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  user?: number,
): { status: number | null; stderr: string } {
  const options = { cwd: root, encoding: 'utf8', timeout: 60_000, env: { ...process.env, ...env } } as const;
  const [command, ...words] = [...(user === undefined ? [] : asUser(user)), process.execPath, ...args];
  const { status, stderr } = spawnSync(command!, words, options);
  return { status, stderr };
}

describe('the program', () => {
  it.each(['18.20.8', '16.0.0', '20.18.3'])('says that Node.js %s is too old, before anything is loaded', (version) => {
    const script = `Object.defineProperty(process.versions, 'node', { value: '${version}' }); require(${JSON.stringify(stillage)})`;
    const { status, stderr } = run(['-e', script]);
    expect(status).toBe(1);
    expect(stderr.trim()).toBe(`stillage: Node.js ${version} is too old, 20.19 or newer is needed: https://nodejs.org`);
  });

  it('is executable in a clone, as npx expects if it has run one in the same place before', () => {
    expect(spawnSync(stillage, ['--version'], { encoding: 'utf8', timeout: 60_000 })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  it('gives up where no directory can be made', () => {
    const { status, stderr } = run([stillage, 'start', '--port', '0', '--data', '/proc/x/y']);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^stillage: --data: cannot use \/proc\/x\/y: ENOENT.*\n$/),
    ]);
  });

  it.skipIf(process.getuid?.() !== 0)('says whose a directory must be that it may not use', () => {
    const folder = mkdtempSync(join(tmpdir(), 'stillage-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    chmodSync(folder, 0o755);
    for (const data of [folder, join(folder, 'data')]) {
      const { status, stderr } = run([stillage, 'start', '--port', '0', '--data', data], {}, 1000);
      const wanted = `; the service runs as user 1000, who must own the directory: chown -R 1000:1000 ${data}\n`;
      expect([status, stderr]).toEqual([1, expect.stringContaining(wanted)]);
      expect(stderr.split('\n')).toHaveLength(2);
    }
  });

  it('does not call a directory empty that it cannot look into', () => {
    const folder = mkdtempSync(join(tmpdir(), 'stillage-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const loop = join(folder, 'loop');
    symlinkSync(loop, loop);
    const { status, stderr } = run([stillage, 'key', 'list', 'main@local', '--data', loop]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^stillage: --data: cannot use .*ELOOP.*\n$/)]);
  });

  it.each(['maybe', '2'])('takes %s for no truth value', (value) => {
    const { status, stderr } = run([stillage, 'start', '--port', '0'], { STILLAGE_STRICT_REGION: value });
    expect([status, stderr]).toEqual([2, `stillage: STILLAGE_STRICT_REGION must be true or false, not "${value}"\n`]);
  });
});

describe('the variable of an option without a value', () => {
  const parsed = (environment: Readonly<Record<string, string>>): unknown => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    const command = new Command().addOption(startOption('strictRegion')).addOption(startOption('signatureV2'));
    readFlags(command.options, process.env);
    return command.parse([], { from: 'user' }).opts();
  };

  it.each(['true', '1', 'yes', 'on', 'TRUE'])('sets it: %s', (value) => {
    const environment = { STILLAGE_STRICT_REGION: value, STILLAGE_NO_SIGNATURE_V2: value };
    expect(parsed(environment)).toEqual({ strictRegion: true, signatureV2: false });
  });

  it.each(['false', '0', 'no', 'off', 'False'])('does not: %s', (value) => {
    const environment = { STILLAGE_STRICT_REGION: value, STILLAGE_NO_SIGNATURE_V2: value };
    expect(parsed(environment)).toEqual({ strictRegion: false, signatureV2: true });
  });
});

it('sizes are binary or decimal, as their units say', () => {
  const read = ['512MiB', '500MB', '10 TiB', '1GB', '2kB', '2KB', '17', 'default'].map((text) =>
    readAs(chosenSize, text),
  );
  expect(read).toEqual([512 * 2 ** 20, 500e6, 10 * 2 ** 40, 1e9, 2000, 2000, 17, 'default']);
  for (const text of ['5mb', '5 Mb', '5M', 'MB', '-1MB'])
    expect(() => readAs(chosenSize, text)).toThrow('Must be a number of bytes');
});
