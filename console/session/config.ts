/** The address of the API, from `/config.json` of the console's own origin. */
export interface Config {
  readonly endpoint: string;
  readonly region: string;
  readonly version: string;
  /** The address of websites, with `*` for the bucket; empty if the service has no websites. */
  readonly websites: string;
}

/** @throws Error if the server of the console does not provide it */
export async function loadConfig(): Promise<Config> {
  const response = await fetch('/config.json', { cache: 'no-store', credentials: 'omit' });
  if (!response.ok) throw new Error(`config.json: ${response.status}`);
  const config = (await response.json()) as Partial<Config>;
  const { origin } = new URL(config.endpoint ?? '');
  const { region = 'us-east-1', version = '', websites = '' } = config;
  return { endpoint: origin, region, version, websites };
}

/**
 * Returns the address of a bucket's website; undefined where none are served. A certificate covers one label: under the usual port, where
 * HTTP is answered as well, names with dots are addressed by that.
 */
export function websiteAddress({ websites }: Pick<Config, 'websites'>, bucket: string): string | undefined {
  if (websites === '') return undefined;
  const url = new URL(websites.replace('*', bucket));
  if (bucket.includes('.') && url.port === '') url.protocol = 'http:';
  return url.href;
}
