import { build } from 'esbuild';
import { join } from 'node:path';
import type { BackgroundFunction } from './background-functions.ts';
import { forLambda } from './bundle.ts';
import { root } from './operation-descriptions.ts';

/** A background function with the directory of its code: `index.mjs`, which exports `handler`. */
export interface BackgroundBundle extends BackgroundFunction {
  readonly directory: string;
}

/** Bundles background functions in one call of esbuild. @param directory the output directory, with a subdirectory for each */
export async function bundleBackground(
  functions: readonly BackgroundFunction[],
  directory: string,
): Promise<readonly BackgroundBundle[]> {
  await build({
    ...forLambda,
    absWorkingDir: root,
    entryPoints: functions.map(({ name, file }) => ({ in: file, out: `${name}/index` })),
    outdir: directory,
  });
  return functions.map((one) => ({ ...one, directory: join(directory, one.name) }));
}
