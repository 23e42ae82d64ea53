import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { RequestMeter } from '../../../shared/metadata/billing/request-meter.ts';
import type { Services } from '../../../shared/protocol/operation.ts';
import { Pipeline } from '../../../shared/protocol/pipeline.ts';
import type { Rates } from '../../../shared/protocol/rate-limit.ts';
import { operations } from '../../operations.ts';
import { answerClientErrors } from '../http/client-errors.ts';
import { closing, listen } from '../http/listening.ts';
import { nodeHttpListener } from '../http/node-http.ts';
import { requestIds } from '../http/request-ids.ts';
import { TrustedProxies } from '../http/trusted-proxies.ts';
import type { Log } from '../telemetry/log.ts';
import { MeteredTelemetry } from '../telemetry/metered-telemetry.ts';
import type { LocalServices } from './local-services.ts';
import { repeat } from './schedule.ts';
import { readTls, type StartOptions } from './settings.ts';

/** A process that serves requests. */
export interface Serving {
  /** `http://127.0.0.1:9000` */
  readonly url: string;
  /** Finishes the requests that are running, and writes down what they cost. */
  stop(): Promise<void>;
}

/** How long counted requests lie in memory alone: a crash loses those, and no more. */
const meterTime = 5000;
/** After so long a stop cuts what still runs. */
export const stopTime = 30_000;

/**
 * Serves requests until it is stopped.
 * @param counters usage and quotas, which are exact on one machine
 * @param rates where requests are counted, if not in this process alone
 * @throws OperatorError
 */
export async function serveRequests(
  options: StartOptions,
  { data: { table }, clock, randomness, accounts, services, limits }: LocalServices,
  { log, counters, rates }: { log: Log; counters: Pick<Services, 'usage' | 'quotas'>; rates?: Rates },
): Promise<Serving> {
  const tls = await readTls(options);
  const proxies = new TrustedProxies(options.trustProxy);
  const meter = new RequestMeter({ table, clock, randomness });
  const meterReader = repeat(meterTime, () => meter.flush(), log, 'writing down the requests for the bill failed');
  const requestId = requestIds(randomness);
  const hostId = Buffer.from(randomness.bytes(12)).toString('base64url');
  const pipeline = new Pipeline({
    services: { ...services, ...counters },
    operations,
    accessKeys: accounts,
    telemetry: new MeteredTelemetry(log, meter),
    hostNames: { domain: options.domain.toLowerCase(), websiteDomain: options.websiteDomain.toLowerCase() },
    signing: { version2: options.signatureV2, ...(options.strictRegion && { strictRegion: options.region }) },
    ...(rates && { rates }),
    requestId,
    hostId,
  });

  const listener = nodeHttpListener(pipeline, {
    proxies,
    limits,
    keepAlive: () => server.listening,
    telemetry: log,
  });
  const serverOptions = {
    maxHeaderSize: 64 * 1024,
    requestTimeout: limits.requestDuration,
    // Looked at often enough that a short limit is kept, too.
    connectionsCheckingInterval: Math.min(30_000, Math.ceil(limits.requestDuration / 4)),
    noDelay: true,
    // A request without Host is refused like any other.
    requireHostHeader: false,
  };
  const server = tls
    ? createHttpsServer({ ...serverOptions, ...tls }, listener)
    : createHttpServer(serverOptions, listener);
  // Node would leave out what comes after a thousand fields, and say nothing. maxHeaderSize bounds them.
  server.maxHeadersCount = 0;
  server.keepAliveTimeout = 65_000;
  server.on('checkContinue', listener).on('checkExpectation', listener);
  answerClientErrors(server, { telemetry: log, requestId, hostId });
  const closeServer = closing(server);
  const url = await listen(server, options, tls !== undefined);
  return {
    url,
    stop: async () => {
      await closeServer(stopTime);
      await meterReader.stop();
      await meter.flush();
    },
  };
}
