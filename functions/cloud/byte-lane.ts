import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RequestMessage, ResponseMessage } from '../../shared/http/message.ts';
import { second } from '../../shared/ports/durations.ts';
import { byteLaneOperations } from '../../shared/protocol/operation-table.ts';
import { defaultLimits } from '../../shared/protocol/limits.ts';
import type { AnyOperation } from '../../shared/protocol/operation.ts';
import type { Telemetry } from '../../shared/ports/telemetry.ts';
import { operations } from '../operations.ts';
import { startCloudService, type CloudService } from './composition.ts';
import { readCloudSettings } from './settings.ts';
import { answerClientErrors } from '../../shared/node-http/client-errors.ts';
import { closing } from '../../shared/node-http/connections/listening.ts';
import { nodeHttpListener, type Handler } from '../../shared/node-http/node-http.ts';
import { listenToRequests, serverOptions } from '../../shared/node-http/request-listening.ts';
import { onlyOperations } from './only-operations.ts';
import { originalsOf, refusalOfOthers } from './through-router.ts';
import { UploadBudget } from './upload-budget.ts';
import { TrustedProxies } from '../../shared/node-http/connections/trusted-proxies.ts';
import { CountingTelemetry, countingInterval } from '../../shared/telemetry/counting-telemetry.ts';
import type { Log } from '../../shared/telemetry/log.ts';

/**
 * The composition root of the byte lane: a server that streams object bodies both ways, behind a load balancer that only the
 * distribution reaches. As a program, it reads its environment and exits on SIGTERM.
 */
export async function startByteLane(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const settings = readCloudSettings(environment);
  const limits = { ...defaultLimits, ...settings.limits };
  const uploads = new UploadBudget(settings.uploadMemory);
  const service = await startCloudService(
    settings,
    onlyOperations({ name: 'the byte lane', operations: [...served()] }),
    uploads.blobs,
    settings.logsEveryRequest ? undefined : countRequests,
  );
  const { log, requestId } = service;
  const endReports = uploads.report(log);
  const listener = nodeHttpListener(throughRouter(service), {
    // The router passes on the client's address.
    proxies: new TrustedProxies([]),
    limits,
    keepAlive: () => server.listening,
    telemetry: log,
  });
  const server = createServer(serverOptions(limits));
  listenToRequests(server, listener);
  // Longer than the idle timeout of the load balancer, so that it never uses a connection that the server is closing.
  server.keepAliveTimeout = 140 * second;
  answerClientErrors(server, { telemetry: log, requestId, hostId: '', consoleOrigins: settings.consoleOrigins });
  const close = closing(server);

  // The health check would pass without table and blobs: failing here rolls a broken deployment back.
  await service.check();
  const port = Number(environment['PORT'] ?? 9000);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, resolve));
  log.note(`the byte lane listens on port ${(server.address() as AddressInfo).port}`);
  log.flush();

  await new Promise((resolve) => process.once('SIGTERM', resolve));
  endReports();
  await close(stopTime);
  await service.close();
  log.note('stopped');
  log.flush();
}

/** Counts requests in memory for the bill. Whatever ends the process in an orderly way, an exception as well, logs the last counts. */
function countRequests(log: Log): Telemetry {
  const counting = new CountingTelemetry(log);
  setInterval(() => counting.flush(), countingInterval).unref();
  process.once('exit', () => {
    counting.flush();
    log.flush();
  });
  return counting;
}

/** The time for running requests after SIGTERM. ECS kills the task after 120 seconds. */
const stopTime = 110 * second;

/** Returns the implemented operations of the byte lane, and those that report its health. */
function* served(): Generator<AnyOperation> {
  for (const name of byteLaneOperations) {
    const operation = operations.get(name);
    if (operation) yield operation;
  }
}

/** The liveness check uses the process alone; the health check uses table and blobs. The load balancer and ECS ask for the former. */
const healthTargets: ReadonlySet<string> = new Set(['/_stillage/live', '/_stillage/health']);

/** Passes requests that came through the distribution to the pipeline. Answers health checks, which do not come through it. */
function throughRouter({ pipeline, edge, requestId }: CloudService): Handler {
  return {
    handle: async (request: RequestMessage): Promise<ResponseMessage> => {
      const originals = await originalsOf(request.fields, edge);
      if (originals) return pipeline.handle({ ...request, ...originals });
      return healthTargets.has(request.target) ? pipeline.handle(request) : refusalOfOthers(requestId());
    },
  };
}
