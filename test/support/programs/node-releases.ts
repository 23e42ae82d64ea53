import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { run } from './programs.ts';

/**
 * Returns the program of a release of Node.js: one that `TEST_NODES` names, a list of paths as in PATH, or else that of npm's package
 * node-<platform>-<architecture>, from npm's cache or the registry.
 * @returns the path, or why it is not available
 */
export async function nodeOfRelease(major: number): Promise<string> {
  for (const program of (process.env['TEST_NODES'] ?? '').split(delimiter).filter((path) => path !== '')) {
    const { stdout } = await run(program, ['--version']);
    if (stdout.startsWith(`v${major}.`)) return program;
  }
  const name = `node-${process.platform}-${process.arch}`;
  const folder = await mkdtemp(join(tmpdir(), 'node-release-'));
  const options = [
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--prefer-offline',
    '--fetch-retries=0',
    '--prefix',
    folder,
  ];
  return run('npm', ['install', ...options, `${name}@${major}`]).then(
    () => join(folder, 'node_modules', name, 'bin/node'),
    () => `npm has no ${name}@${major}: name a Node.js ${major} in TEST_NODES`,
  );
}
