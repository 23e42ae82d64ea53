import type { HostNames } from '../../http/address.ts';

/** Returns whether a text is an origin exactly as browsers write it: `https://console.example.com`. */
export function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text && !text.includes('*');
}

/** Where the API and its objects are reached. */
export interface ServedNames extends HostNames {
  /** The ports of its URLs, as they stand in URLs: '' for a scheme's own. */
  readonly ports: readonly string[];
  /** Further host names, such as that of the public URL. */
  readonly hosts?: readonly string[];
}

/**
 * Returns whether the objects of a bucket may be served at an origin: those of the bucket `console`, say, at
 * https://console.storage.example.com. The console must not be, since scripts in such an object could use what is signed in.
 */
export function servesObjects(origin: string, { domain, websiteDomain, ports, hosts = [] }: ServedNames): boolean {
  const { hostname, port } = new URL(origin);
  const isNamed =
    hosts.includes(hostname) || [domain, websiteDomain].some((name) => `.${hostname}`.endsWith(`.${name}`));
  return isNamed && ports.includes(port);
}
