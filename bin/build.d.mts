import type { BuildOptions } from 'esbuild';

/** The programs by name: the source of each, the packages that are not bundled, and whether what it loads on demand is in other files. */
export const programs: Readonly<
  Record<string, { readonly source: string; readonly external: readonly string[]; readonly isSplit?: true }>
>;

/** The modules that programs import, by the name after `stillage/`. */
export const modules: readonly string[];

/** The options of a bundle that runs as a module of Node.js. */
export const forNode: BuildOptions & { readonly banner: { readonly js: string } };

/** Bundles programs of bin/ into dist/. */
export function build(...names: readonly string[]): Promise<void>;

/** Bundles what package.json exports into dist/package, below a folder: this clone, unless given. */
export function buildPackage(into?: string): Promise<void>;
