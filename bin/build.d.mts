/** The programs by their names, and what each is bundled from. */
export const programs: Readonly<Record<string, { readonly source: string; readonly external: readonly string[] }>>;

/** The modules that programs import, by the name after `stillage/`. */
export const modules: readonly string[];

/** Bundles programs of bin/ into dist/. */
export function build(...names: readonly string[]): Promise<void>;

/** Bundles what package.json exports into dist/package, below a folder: this clone, unless given. */
export function buildPackage(into?: string): Promise<void>;
