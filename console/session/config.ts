/** The address of the API, from `/config.json` of the console's own origin. */
export interface Config {
  readonly endpoint: string;
  readonly region: string;
  readonly version: string;
}

/** @throws Error where the server of the console does not say. */
export async function loadConfig(): Promise<Config> {
  const response = await fetch('/config.json', { cache: 'no-store', credentials: 'omit' });
  if (!response.ok) throw new Error(`config.json: ${response.status}`);
  const config = (await response.json()) as Partial<Config>;
  const { origin } = new URL(config.endpoint ?? '');
  return { endpoint: origin, region: config.region ?? 'us-east-1', version: config.version ?? '' };
}
