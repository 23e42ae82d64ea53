/** Bundles programs of bin/ into dist/. */
export function build(...names: readonly string[]): Promise<void>;

export function buildPackage(): Promise<void>;
