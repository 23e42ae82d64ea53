import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { buildPackage } from '../../bin/build.mjs';
import { run, skip } from './programs.ts';

const root = join(import.meta.dirname, '../..');

/** An empty project, into which npm has installed the package as it packs it. */
export interface PackedProject {
  readonly folder: string;
  /** Runs a script of the project. @returns what it prints */
  script(name: string, text: string, env?: Readonly<Record<string, string>>): Promise<string>;
}

/**
 * Packs the package and installs it, from npm's cache or the registry; where that fails, tests are skipped. To be called once, at the top of a file.
 * @param others further packages to install: `minio@8.0.7`
 */
export function packedProject(others: readonly string[] = []): PackedProject {
  let folder: string;
  let missing: string | undefined;
  const project = (): string => join(folder, 'project');

  beforeAll(async () => {
    await buildPackage();
    folder = await mkdtemp(join(tmpdir(), 'packed-'));
    await mkdir(project());
    await writeFile(join(project(), 'package.json'), '{ "name": "a-project", "private": true }\n');
    const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
    const packed = await run('npm', pack, { cwd: root });
    const archive = join(folder, packed.stdout.trim());
    const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0'];
    // Scripts of other packages compile what their users can do without.
    const scripts = others.length === 0 ? [] : ['--ignore-scripts'];
    await run('npm', [...install, ...scripts, archive, ...others], { cwd: project() }).catch((error: Error) => {
      missing = `npm could not install it: ${error.message}`;
    });
  }, 300_000);
  beforeEach((context) => {
    if (missing !== undefined) skip(context, missing);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  return {
    get folder() {
      return project();
    },
    script: async (name, text, env = {}) => {
      await writeFile(join(project(), name), text);
      const { stdout, stderr } = await run(process.execPath, [name], { cwd: project(), env });
      expect(stderr).toBe('');
      return stdout;
    },
  };
}
