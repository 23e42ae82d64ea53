import type { HostNames } from '../../http/address.ts';

/** Tells whether a text is an origin exactly as browsers write it: `https://console.example.com`. */
export function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text && !text.includes('*');
}

/** The host names and ports at which the API and objects are served. */
export interface ServedNames extends HostNames {
  /** The ports as written in its URLs: '' for the scheme's default. */
  readonly ports: readonly string[];
  /** Additional host names, such as that of the public URL. */
  readonly hosts?: readonly string[];
}

/**
 * Tells whether objects may be served at an origin: those of the bucket `console`, for example, at
 * https://console.storage.example.com. The console must not use such an origin, since scripts in an object could act
 * with the keys signed in there.
 */
export function servesObjects(origin: string, { domain, websiteDomain, ports, hosts = [] }: ServedNames): boolean {
  const { hostname, port } = new URL(origin);
  const isNamed =
    hosts.includes(hostname) || [domain, websiteDomain].some((name) => `.${hostname}`.endsWith(`.${name}`));
  return isNamed && ports.includes(port);
}
