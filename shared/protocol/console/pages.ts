/** The file for every page of the console. */
export const consoleIndex = '/index.html';

/** Folders that contain files only: a missing file there is not a page. */
const foldersOfFiles = ['/assets/', '/preview/'];

/**
 * Returns the console's file for a path. The console is a single-page application: any path that is not a file leads to
 * its page. Uses only what CloudFront Functions support, since the same code runs there.
 * @param path raw, without the query
 */
export function consoleFile(path: string): string {
  const isAtTop = path.indexOf('/', 1) < 0;
  const isFile = foldersOfFiles.some((folder) => path.startsWith(folder)) || (isAtTop && path.includes('.'));
  return isFile ? path : consoleIndex;
}
