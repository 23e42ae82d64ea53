import { toProxyResult, toRequestMessage, type ProxyEvent, type ProxyResult } from './api-gateway.ts';
import { WrongLength } from '../../shared/node-http/announced-length.ts';
import { startCloudService, type CloudService } from './composition.ts';
import type { CloudBlobsClass } from './blobs.ts';
import { readCloudSettings } from './settings.ts';
import { maximumAnswerBytes, withinFunctionLimits } from './function-limits.ts';
import { onlyOperations, type Served } from './only-operations.ts';
import { refusalOfOthers } from './through-router.ts';

/** The definition of a function. */
export interface ServedByFunction extends Served {
  /** The constructor of its blob store. Undefined: none of its operations needs blobs. */
  readonly blobs?: CloudBlobsClass;
}

/** The handler that Lambda calls. */
export type LambdaHandler = (event: ProxyEvent) => Promise<ProxyResult>;

/**
 * Returns the handler of a function that serves one or more operations behind API Gateway. It is composed while Lambda initialises
 * it; after a failure, the next request tries again.
 */
export function lambdaHandler(served: ServedByFunction): LambdaHandler {
  let service: Promise<CloudService> | undefined;
  const start = (): Promise<CloudService> =>
    (service ??= compose(served).catch((error: unknown) => {
      service = undefined;
      throw error;
    }));
  start().catch(() => undefined);

  return async (event) => {
    const { pipeline, log, edge, requestId, writeAudit } = await start();
    try {
      const request = await toRequestMessage(event, edge);
      const answer = request ? await pipeline.handle(request) : refusalOfOthers(requestId());
      return await toProxyResult(answer, event.httpMethod, maximumAnswerBytes);
    } catch (error) {
      // API Gateway answers 502 as an S3 error.
      if (error instanceof WrongLength) log.problem('a response was not sent', error);
      throw error;
    } finally {
      // Lambda freezes the process once it has the response.
      await writeAudit();
      log.flush();
    }
  };
}

async function compose(served: ServedByFunction): Promise<CloudService> {
  const operations = onlyOperations({ ...served, operations: served.operations.map(withinFunctionLimits) });
  return startCloudService(readCloudSettings(process.env), operations, served.blobs);
}
