import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { bundleBackground } from '../../infra/background-bundle.ts';
import { backgroundFunctions } from '../../infra/background-functions.ts';
import { bundleFunctions } from '../../infra/bundle.ts';
import { describeOperations, root } from '../../infra/operation-descriptions.ts';
import { temporaryDirectory } from './synthesis.ts';

vi.setConfig({ testTimeout: 180_000 });

const directory = await temporaryDirectory();
afterAll(() => rm(directory, { recursive: true }));

describe('docs/cold-starts.md', () => {
  it('lists every function with about the size that its bundle has, none above 600 KB', async () => {
    const functions = await bundleFunctions(await describeOperations(), join(directory, 'functions'));
    const background = await bundleBackground(backgroundFunctions, join(directory, 'background'));
    const sizes = new Map<string, number>();
    for (const { name, directory: own } of [...functions, ...background]) {
      sizes.set(name, (await stat(join(own, 'index.mjs'))).size / 1000);
    }
    const page = await readFile(join(root, 'docs/cold-starts.md'), 'utf8');
    const listed = new Map([...page.matchAll(/^\| (\w+) \| (\d+) \| (\d+) \|$/gm)].map((row) => [row[1]!, row]));
    expect([...listed.keys()].toSorted()).toEqual([...sizes.keys()].toSorted());
    for (const [name, [, , size]] of listed) {
      expect(sizes.get(name), name).toBeLessThan(600);
      const change = Math.abs(Number(size) - sizes.get(name)!) / sizes.get(name)!;
      expect(change, `${name}: write docs/cold-starts.md anew, as it says`).toBeLessThan(0.1);
    }
  });

  it('has the client of S3 where blobs are needed, and nowhere else', async () => {
    const page = await readFile(join(root, 'docs/cold-starts.md'), 'utf8');
    const sizeOf = (name: string): number => Number(new RegExp(`^\\| ${name} \\| (\\d+)`, 'm').exec(page)![1]);
    expect(sizeOf('HeadObject')).toBeLessThan(sizeOf('GetObject') - 100);
    expect(sizeOf('CountUsage')).toBeLessThan(sizeOf('SweepReleased') - 50);
  });
});
