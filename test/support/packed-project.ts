import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { buildPackage } from '../../bin/build.mjs';
import { run, skip } from './programs.ts';

const root = join(import.meta.dirname, '../..');

/** An empty project, into which npm has installed the package as it packs it. */
export interface PackedProject {
  readonly folder: string;
  /** A copy of this clone, without its node_modules, in which the package was built and packed. */
  readonly clone: string;
  /** Runs a script of the project. @returns what it prints */
  script(name: string, text: string, env?: Readonly<Record<string, string>>): Promise<string>;
}

/** Options of {@link packedProject}. */
export interface PackedProjectOptions {
  /** Further packages to install: `minio@8.0.7`. */
  readonly others?: readonly string[];
  /** Returns the Node.js that installs and runs it, if not that of the tests; a string that does not begin with `/` says why there is none. */
  readonly node?: () => Promise<string>;
}

/** Who of a file needs {@link pack}'s folder. */
let users = 0;
let packed: Promise<Packed> | undefined;

interface Packed {
  readonly clone: string;
  readonly archive: string;
}

/** Builds and packs the package in a copy of this clone, as other files of tests do the same meanwhile. */
async function pack(): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), 'packed-'));
  const clone = join(folder, 'clone');
  const isLeftOut = /^\/(?:node_modules|\.git|dist\/package)(?:$|\/)/;
  await cp(root, clone, { recursive: true, filter: (path) => !isLeftOut.test(path.slice(root.length)) });
  await buildPackage(clone);
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: clone,
  });
  return { clone, archive: join(folder, stdout.trim()) };
}

/** Packs the package and installs it, from npm's cache or the registry; where that fails, tests are skipped. To be called at the top of a file or of a `describe`. */
export function packedProject({ others = [], node }: PackedProjectOptions = {}): PackedProject {
  let folder: string;
  let clone: string;
  let missing: string | undefined;
  let program = process.execPath;

  users += 1;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'a-project-'));
    if (node) program = await node();
    if (!program.startsWith('/')) {
      missing = program;
      return;
    }
    const { archive } = ({ clone } = await (packed ??= pack()));
    await writeFile(join(folder, 'package.json'), '{ "name": "a-project", "private": true }\n');
    const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0'];
    // Scripts of other packages compile what their users can do without.
    const scripts = others.length === 0 ? [] : ['--ignore-scripts'];
    const env = { PATH: `${dirname(program)}${delimiter}${process.env['PATH']}` };
    await run('npm', [...install, ...scripts, archive, ...others], { cwd: folder, env }).catch((error: Error) => {
      missing = `npm could not install it: ${error.message}`;
    });
  }, 300_000);
  beforeEach((context) => {
    if (missing !== undefined) skip(context, missing);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
    users -= 1;
    if (users === 0 && packed) await rm(dirname((await packed).archive), { recursive: true, force: true });
  });

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
