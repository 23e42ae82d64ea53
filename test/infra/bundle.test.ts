import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../functions/operations.ts';
import { bundleFunctions, type FunctionBundle } from '../../infra/bundles/bundle.ts';
import {
  describeOperations,
  everyOperation,
  otherwise,
  root,
  type OperationSource,
} from '../../infra/bundles/operation-descriptions.ts';
import { maxBundleKilobytes } from '../bench/cold-starts.ts';
import { temporaryDirectory } from './synthesis.ts';

let directory: string;
let described: readonly OperationSource[];
let bundles: readonly FunctionBundle[];
beforeAll(async () => {
  directory = await temporaryDirectory();
  described = await describeOperations();
  bundles = await bundleFunctions(described, directory);
});
afterAll(() => rm(directory, { recursive: true }));

describe('the descriptions of operations', () => {
  it('are what the operations say', () => {
    const said = new Map([...operations].map(([name, { needs }]) => [name, needs]));
    expect(new Map(described.map(({ name, needs }) => [name, needs]))).toEqual(said);
    expect(described).toHaveLength(operations.size);
  });

  it('say which export has each operation', async () => {
    const exports = (await import(join(root, everyOperation))) as Record<string, unknown>;
    for (const { name, export: exported } of described)
      expect([exports[exported]].flat()).toContain(operations.get(name));
  });
});

describe('the bundles', () => {
  const codeOf = async (bundle: FunctionBundle): Promise<string> =>
    readFile(join(bundle.directory, 'index.mjs'), 'utf8');

  it('serve each operation once, and are a single file each, no larger than docs/cold-starts.md says', async () => {
    expect(bundles.flatMap(({ serves }) => serves).toSorted()).toEqual([...operations.keys()].toSorted());
    const sizes: number[] = [];
    for (const bundle of bundles) {
      expect(await readdir(bundle.directory)).toEqual(['index.mjs']);
      sizes.push((await stat(join(bundle.directory, 'index.mjs'))).size);
    }
    console.info(`${sizes.length} bundles of ${Math.min(...sizes)} to ${Math.max(...sizes)} bytes`);
    expect(Math.max(...sizes)).toBeLessThan(maxBundleKilobytes * 1000);
  });

  it('hold their own operation, and no other', async () => {
    const found: string[] = [];
    for (const bundle of bundles) if ((await codeOf(bundle)).includes('x-rgw-bytes-used')) found.push(bundle.name);
    expect(found).toEqual(['HeadBucket']);
  });

  it('know what is not built, where that is said', async () => {
    const found: string[] = [];
    for (const bundle of bundles)
      if ((await codeOf(bundle)).includes('"SelectObjectContent"]')) found.push(bundle.name);
    expect(found.filter((name) => name !== otherwise)).toEqual([]);
    expect(await codeOf(bundles.find(({ name }) => name === otherwise)!)).toContain('unsupported:');
  });

  it('are the same whatever is bundled beside them, so that one more operation deploys one more function', async () => {
    const [alone, beside] = [join(directory, 'alone'), join(directory, 'beside')];
    const [first, second] = described;
    const [[one], [other]] = await Promise.all([
      bundleFunctions([first!], alone),
      bundleFunctions([first!, second!], beside),
    ]);
    const same = (await codeOf(one!)) === (await codeOf(other!));
    expect(same).toBe(true);
  });
});
