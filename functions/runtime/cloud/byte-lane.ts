import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { S3BlobStore } from '../../../shared/adapters/cloud/s3-blob-store.ts';
import type { RequestMessage, ResponseMessage } from '../../../shared/http/message.ts';
import { second } from '../../../shared/ports/durations.ts';
import { byteLane } from '../../../shared/protocol/lanes.ts';
import { defaultLimits } from '../../../shared/protocol/limits.ts';
import type { AnyOperation } from '../../../shared/protocol/operation.ts';
import type { OperationName } from '../../../shared/protocol/routes.ts';
import { operations } from '../../operations.ts';
import { startCloudService, type CloudService } from './composition.ts';
import { readCloudSettings } from './settings.ts';
import { answerClientErrors } from '../http/client-errors.ts';
import { closing } from '../http/listening.ts';
import { nodeHttpListener, type Handler } from '../http/node-http.ts';
import { onlyOperations } from './only-operations.ts';
import { originalsOf, refusalOfOthers } from './through-router.ts';
import { TrustedProxies } from '../http/trusted-proxies.ts';

/**
 * The composition root of the byte lane: a server that streams the bodies of objects both ways, behind a load balancer that
 * only the distribution reaches. Run as a program, it reads its environment, and ends with SIGTERM.
 */
export async function startByteLane(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const settings = readCloudSettings(environment);
  const limits = { ...defaultLimits, ...settings.limits };
  const service = await startCloudService(
    settings,
    onlyOperations({ name: 'the byte lane', operations: [...served()] }),
    S3BlobStore,
  );
  const { log, requestId } = service;
  const listener = nodeHttpListener(throughRouter(service), {
    // The router says who the client is.
    proxies: new TrustedProxies([]),
    limits,
    keepAlive: () => server.listening,
    telemetry: log,
  });
  const options = {
    maxHeaderSize: 64 * 1024,
    requestTimeout: limits.requestDuration,
    noDelay: true,
    requireHostHeader: false,
  };
  const server = createServer(options, listener);
  // Node would leave out what comes after a thousand fields, and say nothing. maxHeaderSize bounds them.
  server.maxHeadersCount = 0;
  // Longer than the load balancer keeps a connection on which nothing happens, so that it is never the one to be surprised.
  server.keepAliveTimeout = 140 * second;
  server.on('checkContinue', listener).on('checkExpectation', listener);
  answerClientErrors(server, { telemetry: log, requestId, hostId: '', consoleOrigins: settings.consoleOrigins });
  const close = closing(server);

  const port = Number(environment['PORT'] ?? 9000);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, resolve));
  log.note(`the byte lane listens on port ${(server.address() as AddressInfo).port}`);
  log.flush();

  await new Promise((resolve) => process.once('SIGTERM', resolve));
  await close(stopTime);
  await service.close();
  log.note('stopped');
  log.flush();
}

/** After SIGTERM, so long may requests take that are running. The task is stopped by force after 120 seconds. */
const stopTime = 110 * second;

/** The operations of the byte lane that are built; and its health: readiness for the load balancer, liveness for the task. */
function* served(): Generator<AnyOperation> {
  for (const name of [...Object.keys(byteLane), 'GetHealth', 'GetLiveness'] as OperationName[]) {
    const operation = operations.get(name);
    if (operation) yield operation;
  }
}

const healthTargets: ReadonlySet<string> = new Set(['/_stillage/health', '/_stillage/live']);

/** Hands the pipeline what clients sent to the distribution. Of others, only the load balancer and the task itself ask: for health. */
function throughRouter({ pipeline, edge, requestId }: CloudService): Handler {
  return {
    handle: async (request: RequestMessage): Promise<ResponseMessage> => {
      const originals = await originalsOf(request.fields, edge);
      if (originals) return pipeline.handle({ ...request, ...originals });
      return healthTargets.has(request.target) ? pipeline.handle(request) : refusalOfOthers(requestId());
    },
  };
}
