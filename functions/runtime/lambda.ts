import type { AnyOperation } from '../../shared/protocol/operation.ts';
import { toProxyResult, toRequestMessage, type ProxyEvent, type ProxyResult } from './api-gateway.ts';
import { startCloudService, type CloudService } from './cloud.ts';
import { readCloudSettings } from './cloud-settings.ts';
import { maximumAnswerBytes, withinFunctionLimits } from './function-limits.ts';
import { onlyOperation } from './only-operation.ts';

/** What Lambda calls. */
export type LambdaHandler = (event: ProxyEvent) => Promise<ProxyResult>;

/**
 * The function that serves one operation behind API Gateway. It is composed while Lambda initialises it; should that fail,
 * the next request tries again.
 */
export function lambdaHandler(operation: AnyOperation): LambdaHandler {
  let service: Promise<CloudService> | undefined;
  const start = (): Promise<CloudService> =>
    (service ??= compose(operation).catch((error: unknown) => {
      service = undefined;
      throw error;
    }));
  start().catch(() => undefined);

  return async (event) => {
    const { pipeline, log, edgeSecret } = await start();
    try {
      const request = toRequestMessage(event, { operation: operation.name, edgeSecret });
      return await toProxyResult(await pipeline.handle(request), maximumAnswerBytes);
    } finally {
      // Lambda stops the process as soon as it has the answer.
      log.flush();
    }
  };
}

async function compose(operation: AnyOperation): Promise<CloudService> {
  return startCloudService(readCloudSettings(process.env), onlyOperation(withinFunctionLimits(operation)));
}
