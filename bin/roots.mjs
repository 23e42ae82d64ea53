/** The folders whose code is the product, but for the console: what tests cover, lint judges and bundles are made of. */
export const sources = ['functions', 'local', 'shared'];

/** Returns whether the path of a file from the root lies below one of {@link sources}. */
export function isSource(path) {
  return sources.some((folder) => path.startsWith(`${folder}/`));
}
