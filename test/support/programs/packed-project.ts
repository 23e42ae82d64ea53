import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, inject } from 'vitest';
import type { PackedPackage } from './packed-package.ts';
import { run, skip } from './programs.ts';

const root = join(import.meta.dirname, '../../..');

/** An empty project, into which npm has installed the package as it packs it. */
export interface PackedProject {
  readonly folder: string;
  /** A copy of this clone, without its node_modules, in which the package was built and packed. */
  readonly clone: string;
  /**
   * Runs a script of the project.
   * @returns its output
   */
  script(name: string, text: string, env?: Readonly<Record<string, string>>): Promise<string>;
}

/** Options of {@link packedProject}. */
export interface PackedProjectOptions {
  /** Further packages to install: `minio@8.0.7`. */
  readonly others?: readonly string[];
  /** Packages of this clone that the project has as well, without another installation: `@aws-sdk/client-s3`. */
  readonly linked?: readonly string[];
  /**
   * Returns the path of the Node.js that installs and runs it. A string that does not begin with `/` is the reason why none is available.
   * Default: the Node.js of the tests.
   */
  readonly node?: () => Promise<string>;
}

/** Packs the package, unless it was. */
export async function packedPackage(): Promise<PackedPackage> {
  const response = await fetch(inject('packedPackage'));
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as PackedPackage;
}

async function link(name: string, folder: string): Promise<void> {
  const path = join(folder, 'node_modules', name);
  await mkdir(dirname(path), { recursive: true });
  await symlink(join(root, 'node_modules', name), path, 'dir');
}

/** Packs the package and installs it, from npm's cache or the registry; where that fails, tests are skipped. To be called at the top of a file or of a `describe`. */
export function packedProject({ others = [], linked = [], node }: PackedProjectOptions = {}): PackedProject {
  let folder: string;
  let clone: string;
  let missing: string | undefined;
  let program = process.execPath;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'a-project-'));
    if (node) program = await node();
    if (!program.startsWith('/')) {
      missing = program;
      return;
    }
    const { archive } = ({ clone } = await packedPackage());
    await writeFile(join(folder, 'package.json'), '{ "name": "a-project", "private": true }\n');
    const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0'];
    // The install scripts of other packages compile optional parts.
    const scripts = others.length + linked.length === 0 ? [] : ['--ignore-scripts'];
    const env = { PATH: `${dirname(program)}${delimiter}${process.env['PATH']}` };
    await run('npm', [...install, ...scripts, archive, ...others], { cwd: folder, env }).catch((error: Error) => {
      missing = `npm could not install it: ${error.message}`;
    });
    if (missing === undefined) for (const name of linked) await link(name, folder);
  });
  beforeEach((context) => {
    if (missing !== undefined) skip(context, missing);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  return {
    get folder() {
      return folder;
    },
    get clone() {
      return clone;
    },
    script: async (name, text, env = {}) => {
      await writeFile(join(folder, name), text);
      const { stdout, stderr } = await run(program, [name], { cwd: folder, env });
      expect(stderr).toBe('');
      return stdout;
    },
  };
}
