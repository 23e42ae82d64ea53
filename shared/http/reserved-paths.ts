/*
 * The reserved paths, which no bucket can have. The router at the edge uses this file, too, and its runtime limits the
 * syntax: see functions/cloud/edge/router.ts.
 */

/** The path of public links, without the token that follows. */
export const publicLinkPath = '/_public/';

/** Tells whether a raw path is reserved on the service's own host. On the host of a bucket or a website, no path is. */
export function isReservedPath(rawPath: string): boolean {
  return /^\/_(?:stillage|public)(?:\/|$)/.test(rawPath);
}

/** Returns the path of a reserved path's rows in the route table: `/*` stands for anything that follows. */
export function reservedRoute(rawPath: string): string {
  return rawPath.startsWith(publicLinkPath) ? publicLinkPath + '*' : rawPath;
}
