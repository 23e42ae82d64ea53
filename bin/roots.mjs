/** The folders whose code is the product, but for the console: what tests cover, lint judges and bundles are made of. */
export const sources = ['functions', 'local', 'shared'];

/** Matches the path of a file below one of {@link sources}. */
export const isSource = new RegExp(`^(?:${sources.join('|')})/`);
