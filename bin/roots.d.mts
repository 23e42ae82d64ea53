/** The folders whose code is the product, but for the console. */
export const sources: readonly string[];

/** Returns whether the path of a file from the root lies below one of them. */
export function isSource(path: string): boolean;
