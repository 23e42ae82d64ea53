import { createServer as createHttpServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import type { ConsoleConfig } from '../../../shared/protocol/console/headers.ts';
import { servesObjects } from '../../../shared/protocol/console/origins.ts';
import { closing, listen } from '../../../shared/node-http/connections/listening.ts';
import { withoutBodies } from '../../../shared/node-http/last-response.ts';
import { oneAfterAnother } from '../../../shared/node-http/connections/one-after-another.ts';
import { readInSlices } from '../../../shared/node-http/connections/sliced-reading.ts';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { httpsServer } from '../https-server.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import type { Tls } from '../tls.ts';
import { ConsoleFiles } from './console-files.ts';
import { consoleListener } from './console-listener.ts';

/** A running console. */
export interface RunningConsole {
  /** The address to open: `http://127.0.0.1:9001`. */
  readonly url: string;
  readonly origins: ReadonlySet<string>;
  /** Stops the console. @param patience milliseconds after which running requests are cut off */
  close(patience: number): Promise<void>;
}

/** The service of the console. */
interface ServiceBehind {
  /** The address of its listener: `http://127.0.0.1:9000`. */
  readonly url: string;
  readonly tls: Tls | undefined;
  readonly telemetry: Pick<Telemetry, 'problem'>;
}

/** The directory that `bin/build.mjs` writes the console to, beside the program's bundle. */
const builtConsole = fileURLToPath(new URL('console', import.meta.url));

/** Hosts that mean all addresses: a server listens on them, but a browser cannot open them. */
const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '[::]']);

/** Starts the console unless it is turned off. If it cannot be served, prints why; the service runs without it. */
export async function consoleOrNone(
  options: StartOptions,
  service: ServiceBehind,
): Promise<RunningConsole | undefined> {
  if (options.consolePort === 0) return undefined;
  try {
    return await startConsole(options, service);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    process.stderr.write(`There is no console: ${error.message}\n`);
    return undefined;
  }
}

/**
 * Serves the console on a separate port, over HTTPS if the service does.
 * @throws OperatorError if it cannot be served; the service works without a console
 */
async function startConsole(options: StartOptions, service: ServiceBehind): Promise<RunningConsole> {
  const { consolePort: port, host, consoleFiles = builtConsole } = options;
  const files = await ConsoleFiles.list(consoleFiles, ', or use --console-port 0');
  const origins = new Set(options.consoleOrigin);
  const configAt = configuration(options, service.url, port);
  const site = { files, origins, configAt, telemetry: service.telemetry };
  const listener = oneAfterAnother(withoutBodies(consoleListener(site)));
  const limits = { headersTimeout: 10_000, requestTimeout: 30_000, noDelay: true };
  const server = service.tls ? httpsServer(service.tls, limits, listener) : createHttpServer(limits, listener);
  readInSlices(server);
  const close = closing(server);
  const own = new URL(await listen(server, { port, host }, service.tls !== undefined, { option: '--console-port' }));
  const isEverywhere = wildcards.has(own.hostname);
  for (const name of ['127.0.0.1', 'localhost', ...(isEverywhere ? [] : [own.hostname])]) {
    origins.add(new URL(`${own.protocol}//${name}:${own.port}`).origin);
  }
  if (isEverywhere) own.hostname = 'localhost';
  return { url: own.origin, origins, close };
}

/**
 * Returns the configuration of the page. Websites have the protocol and the port of the service's URL. The endpoint is the public URL if one is set, or else the host name that the page was opened
 * at, with the port of the service.
 */
function configuration(
  { publicUrl, region, websiteDomain }: StartOptions,
  serviceUrl: string,
  consolePort: number,
): (origin: string) => ConsoleConfig {
  const { version } = packageJson;
  const service = new URL(serviceUrl);
  const entry = new URL(publicUrl ?? serviceUrl);
  const port = entry.port === '' ? '' : `:${entry.port}`;
  const websites = `${entry.protocol}//*.${websiteDomain.toLowerCase()}${port}`;
  return (origin) => {
    const { hostname, port: at } = new URL(origin);
    const isBeside = at === String(consolePort);
    const beside = new URL(`${service.protocol}//${isBeside ? hostname : service.hostname}:${service.port}`);
    return { endpoint: publicUrl ?? beside.origin, region, version, websites };
  };
}

/** Checks that objects are not served at an origin of the console. @throws OperatorError otherwise */
export function checkConsoleOrigins(options: StartOptions): void {
  const { consoleOrigin, domain, websiteDomain, publicUrl, port, host } = options;
  const at = publicUrl === undefined ? undefined : new URL(publicUrl);
  const names = {
    domain: domain.toLowerCase(),
    websiteDomain: websiteDomain.toLowerCase(),
    hosts: [host, '127.0.0.1', '[::1]', ...(at ? [at.hostname] : [])],
    ports: [String(port), ...(at ? [at.port] : [])],
  };
  const shared = consoleOrigin.find((origin) => servesObjects(origin, names));
  if (shared === undefined) return;
  throw new OperatorError(
    `--console-origin ${shared}: the service serves objects there, whose scripts could use the keys of signed-in users; use another host name`,
  );
}
