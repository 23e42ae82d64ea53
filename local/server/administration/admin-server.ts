import { createServer } from 'node:http';
import { AdminApi } from '../../../functions/admin/admin-api.ts';
import type { AdministrationCommand, AdministrationDeps } from '../../../functions/admin/command.ts';
import type { Auditor } from '../../../shared/audit/audit-record.ts';
import type { Operators } from '../../../shared/accounts/operators.ts';
import { Fields } from '../../../shared/http/message.ts';
import { closing, listen } from '../../../shared/node-http/connections/listening.ts';
import { TrustedProxies } from '../../../shared/node-http/connections/trusted-proxies.ts';
import { nodeHttpListener, type Handler } from '../../../shared/node-http/node-http.ts';
import { listenToRequests, serverOptions } from '../../../shared/node-http/request-listening.ts';
import type { Secrets } from '../../../shared/ports/secrets.ts';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { operatorsPage } from './operators-page.ts';

/** A listener for operators. */
export interface AdminServer {
  /** `http://127.0.0.1:9003` */
  readonly url: string;
  close(patience: number): Promise<void>;
}

/** What operators may ask for. */
export type Commands = readonly AdministrationCommand<never, unknown>[];

interface Administered {
  readonly commands: Commands;
  readonly administration: AdministrationDeps;
  readonly operators: Operators;
  readonly audit: Auditor | undefined;
  readonly secrets: Secrets;
  readonly telemetry: Telemetry;
  readonly requestId: () => string;
}

/** The loopback address, which other machines cannot reach. */
const host = '127.0.0.1';

/** Where it listens, and how browsers reach it. */
interface AdminAddresses {
  readonly adminPort: number;
  /** The origin at which a proxy stands before it. */
  readonly adminUrl?: string | undefined;
  /** Of the proxies whose X-Forwarded-* headers are trusted. */
  readonly trustProxy: readonly string[];
}

/**
 * Carries out administrative commands over HTTP, on a separate port of this machine, and serves the operators' page there.
 * @throws OperatorError if the port is taken
 */
export async function startAdminServer(
  { adminPort: port, adminUrl, trustProxy }: AdminAddresses,
  { telemetry, ...administered }: Administered,
): Promise<AdminServer> {
  const { limits } = administered.administration.settings;
  const proxy = adminUrl === undefined ? undefined : new URL(adminUrl);
  const isOwnPage = (origin: string, asked: string): boolean =>
    origin === proxy?.origin || (isLoopback(asked) && origin === `http://${asked}`);
  const api = new AdminApi({ ...administered, telemetry, isOwnPage });
  const page = await operatorsPage(telemetry);
  // Keeps out web pages in a browser of this machine whose host name resolves to this address (DNS rebinding).
  const handler: Handler = {
    handle: async (request) => {
      const asked = request.fields.get('host') ?? '';
      if (!isLoopback(asked) && asked.toLowerCase() !== proxy?.host) return misdirected;
      return (await page?.(request)) ?? api.handle(request);
    },
  };
  let isClosing = false;
  const server = createServer(serverOptions(limits));
  listenToRequests(
    server,
    nodeHttpListener(handler, {
      proxies: new TrustedProxies(proxy ? trustProxy : []),
      limits,
      keepAlive: () => !isClosing,
      telemetry,
    }),
  );
  const close = closing(server);
  return {
    url: await listen(server, { port, host }, false, { option: '--admin-port' }),
    close: (patience) => {
      isClosing = true;
      return close(patience);
    },
  };
}

/** Tells whether a Host header names this machine, which no page of another host does, whatever its name resolves to. */
function isLoopback(asked: string): boolean {
  return /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/i.test(asked);
}

const misdirected = {
  status: 421,
  fields: new Fields([['content-type', 'text/plain; charset=utf-8']]),
  body: 'Ask at 127.0.0.1 or localhost, or at --admin-url.\n',
};
