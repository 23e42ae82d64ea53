/** The file that the browser opens for every page of the console. */
export const consoleIndex = '/index.html';

/** Folders of files that are not pages: one that is missing there is missing. */
const foldersOfFiles = ['/assets/', '/preview/'];

/**
 * Returns the file of the console that a path stands for. The console is one page, which shows what its address says: any other
 * path but those of files leads to it. Written in what CloudFront Functions know, since the cloud does the same there.
 * @param path raw, without the query
 */
export function consoleFile(path: string): string {
  const isAtTop = path.indexOf('/', 1) < 0;
  const isFile = foldersOfFiles.some((folder) => path.startsWith(folder)) || (isAtTop && path.includes('.'));
  return isFile ? path : consoleIndex;
}
