import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { packedPackage } from '../support/programs/packed-project.ts';
import { run, skip, type Outcome } from '../support/programs/programs.ts';

/* The packed package, installed by other package managers than npm as docs/testing-with-stillage.md says. */

const pnpmSettings = 'allowBuilds:\n  lmdb: false\n  msgpackr-extract: false\n';
const session = `
  import assert from 'node:assert/strict';
  import { startStillage } from 'stillage';
  const credentials = { accessKeyId: 'TESTER', secretAccessKey: 'secret of the tester' };
  for (const options of [{ ephemeral: true }, ...(process.argv[2] === 'kept' ? [{ data: './kept', credentials }] : [])]) {
    const stillage = await startStillage({ port: 0, buckets: ['photos'], ...options });
    assert.equal((await fetch(stillage.endpoint + '/_stillage/health')).status, 200);
    await stillage.stop();
  }
  console.log('done');
`;

let managers: string;
let missing: string | undefined;
const folders: string[] = [];

beforeAll(async () => {
  managers = await newFolder('managers');
  const packages = ['pnpm@12.21.0', '@yarnpkg/cli-dist@4.18.1'];
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0'];
  await run('npm', [...install, ...packages], { cwd: managers }).catch((error: Error) => {
    missing = `npm could not install pnpm and Yarn: ${error.message}`;
  });
});
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));
beforeEach((context) => {
  if (missing !== undefined) skip(context, missing);
});

async function newFolder(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`));
  folders.push(folder);
  await writeFile(join(folder, 'package.json'), '{ "name": "a-project", "private": true, "type": "module" }\n');
  return folder;
}

async function newProject(settings: Readonly<Record<string, string>>): Promise<{ folder: string; archive: string }> {
  const folder = await newFolder('a-project');
  const files = { 'session.mjs': session, ...settings };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return { folder, archive: (await packedPackage()).archive };
}

describe('the package, installed by', () => {
  it('pnpm, runs', async () => {
    const { folder, archive } = await newProject({ 'pnpm-workspace.yaml': pnpmSettings });
    const pnpm = join(managers, 'node_modules/pnpm/bin/pnpm.mjs');
    const added = await run(process.execPath, [pnpm, 'add', archive], { cwd: folder });
    expect(added.code).toBe(0);
    expect((await run(process.execPath, ['session.mjs', 'kept'], { cwd: folder })).stdout).toBe('done\n');
  });

  describe('Yarn', () => {
    const yarn = (folder: string, args: readonly string[], codes = [0]): Promise<Outcome> =>
      run(process.execPath, [join(managers, 'node_modules/@yarnpkg/cli-dist/bin/yarn.js'), ...args], {
        cwd: folder,
        codes,
        // Where CI is set, Yarn refuses to write its lock file.
        env: { YARN_ENABLE_IMMUTABLE_INSTALLS: 'false', YARN_ENABLE_TELEMETRY: 'false' },
      });

    it('into node_modules, runs', async () => {
      const settings = { 'yarn.lock': '', '.yarnrc.yml': 'nodeLinker: node-modules\n' };
      const { folder, archive } = await newProject(settings);
      await yarn(folder, ['add', `stillage@file:${archive}`]);
      expect((await yarn(folder, ['node', 'session.mjs', 'kept'])).stdout).toBe('done\n');
    });

    it("with Plug'n'Play, runs if it keeps nothing, and says in a line what to set otherwise", async () => {
      const { folder, archive } = await newProject({ 'yarn.lock': '' });
      await yarn(folder, ['add', `stillage@file:${archive}`]);
      expect((await yarn(folder, ['node', 'session.mjs'])).stdout).toBe('done\n');
      const { code, stderr } = await yarn(folder, ['stillage', 'start', '--data', join(folder, 'data')], [0, 1]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^stillage: --data: Yarn's Plug'n'Play .*nodeLinker: node-modules.*\n$/);
    });
  });
});
