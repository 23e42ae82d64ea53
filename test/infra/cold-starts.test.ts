import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { backgroundFunctions } from '../../infra/constructs/background-functions.ts';
import { bundleBackground, bundleFunctions } from '../../infra/bundles/bundle.ts';
import { describeOperations, root } from '../../infra/bundles/operation-descriptions.ts';
import { maxBundleKilobytes } from '../bench/cold-starts.ts';
import { temporaryDirectory } from './synthesis.ts';

const directory = await temporaryDirectory();
afterAll(() => rm(directory, { recursive: true }));

describe('docs/cold-starts.md', () => {
  it('lists every function, and says how large a bundle may be', async () => {
    const functions = await bundleFunctions(await describeOperations(), join(directory, 'functions'));
    const background = await bundleBackground(backgroundFunctions, join(directory, 'background'));
    const sizes = new Map<string, number>();
    for (const { name, directory: own } of [...functions, ...background]) {
      sizes.set(name, (await stat(join(own, 'index.mjs'))).size / 1000);
    }
    const page = await readFile(join(root, 'docs/cold-starts.md'), 'utf8');
    const listed = [...page.matchAll(/^\| (\w+) \| \d+ \| \d+ \|$/gm)].map(([, name]) => name!);
    expect(listed.toSorted()).toEqual([...sizes.keys()].toSorted());
    expect(page).toContain(`A test limits each bundle to ${maxBundleKilobytes} KB`);
    // The client of S3 is in those that need blobs, and in no others.
    expect(sizes.get('HeadObject')).toBeLessThan(sizes.get('GetObject')! - 100);
    expect(sizes.get('CountUsage')).toBeLessThan(sizes.get('SweepReleased')! - 50);
  });
});
