import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleBackground, type BackgroundBundle } from '../../infra/bundles/bundle.ts';
import { adminFunction, backgroundFunctions } from '../../infra/constructs/background-functions.ts';
import { root } from '../../infra/bundles/operation-descriptions.ts';
import { maxBundleKilobytes } from '../bench/cold-starts.ts';
import { temporaryDirectory } from './synthesis.ts';

/** Those of each deployment, and the one that only some have. */
const all = [...backgroundFunctions, adminFunction];
let directory: string;
let bundles: readonly BackgroundBundle[];
beforeAll(async () => {
  directory = await temporaryDirectory();
  bundles = await bundleBackground(all, directory);
});
afterAll(() => rm(directory, { recursive: true }));

describe('the functions in the background', () => {
  it('are those that have a file which exports a handler', async () => {
    const folder = 'functions/cloud/background';
    const files = (await readdir(join(root, folder))).map((name) => join(folder, name));
    const entries: string[] = [];
    for (const file of files) {
      if ((await readFile(join(root, file), 'utf8')).includes('export const handler =')) entries.push(file);
    }
    expect(entries.toSorted()).toEqual(all.map(({ file }) => file).toSorted());
  });

  it('are single files, no larger than docs/cold-starts.md says, and hold no command line', async () => {
    const sizes: number[] = [];
    for (const { directory: own } of bundles) {
      expect(await readdir(own)).toEqual(['index.mjs']);
      const code = await readFile(join(own, 'index.mjs'), 'utf8');
      // Its error codes: the version of package.json, which names it too, is in the API of operators.
      expect(code).not.toContain('commander.invalidArgument');
      sizes.push(Buffer.byteLength(code));
    }
    console.info(`${sizes.length} bundles of ${Math.min(...sizes)} to ${Math.max(...sizes)} bytes`);
    expect(Math.max(...sizes)).toBeLessThan(maxBundleKilobytes * 1000);
  });
});
