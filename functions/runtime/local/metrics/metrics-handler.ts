import { S3Error } from '../../../../shared/errors/s3-error.ts';
import { resolveTarget, type HostNames } from '../../../../shared/http/address.ts';
import { Fields, type RequestMessage, type ResponseMessage } from '../../../../shared/http/message.ts';
import type { Telemetry } from '../../../../shared/ports/telemetry.ts';
import type { Handler } from '../../http/node-http.ts';
import { expositionType } from './exposition.ts';
import type { StartOptions } from '../settings.ts';
import { MetricsToken } from './metrics-token.ts';

const metricsPath = '/_stillage/metrics';

export interface MetricsHandlerDeps {
  readonly handler: Handler;
  readonly token: MetricsToken;
  readonly scrape: () => Promise<string>;
  readonly hostNames: HostNames;
  readonly telemetry: Telemetry;
  readonly requestId: () => string;
}

/**
 * Returns the handler, which answers requests for metrics if the options name the file of a token.
 * @throws OperatorError if the file holds no token
 */
export async function withMetrics(
  handler: Handler,
  { metricsTokenFile: file, domain, websiteDomain }: StartOptions,
  deps: Pick<MetricsHandlerDeps, 'scrape' | 'telemetry' | 'requestId'>,
): Promise<Handler> {
  if (file === undefined) return handler;
  const hostNames = { domain: domain.toLowerCase(), websiteDomain: websiteDomain.toLowerCase() };
  return new MetricsHandler({ ...deps, handler, hostNames, token: await MetricsToken.read(file) });
}

/** Serves `GET /_stillage/metrics` to requests with the token, and passes all others to a handler. */
class MetricsHandler implements Handler {
  readonly #deps: MetricsHandlerDeps;

  constructor(deps: MetricsHandlerDeps) {
    this.#deps = deps;
  }

  async handle(request: RequestMessage): Promise<ResponseMessage> {
    if (!this.#isForMetrics(request)) return this.#deps.handler.handle(request);
    const { token, telemetry, requestId } = this.#deps;
    const began = Date.now();
    const id = requestId();
    const isAdmitted = await token.admits(request.fields);
    const { status, fields, body } = isAdmitted ? await this.#metrics() : refusal;
    telemetry.request({
      requestId: id,
      operation: 'GetMetrics',
      method: request.method,
      status,
      bytesIn: 0,
      bytesOut: Buffer.byteLength(body),
      milliseconds: Date.now() - began,
    });
    const common = [
      ['x-amz-request-id', id],
      ['date', new Date().toUTCString()],
      ['server', 'Stillage'],
      ['cache-control', 'no-store'],
    ] as const;
    return { status, fields: new Fields([...common, ...fields]), body };
  }

  async #metrics(): Promise<Reply> {
    try {
      return { status: 200, fields: [['content-type', expositionType]], body: await this.#deps.scrape() };
    } catch (error) {
      this.#deps.telemetry.problem('the metrics could not be measured', error);
      return { status: 503, fields: plain, body: 'The metrics could not be measured.\n' };
    }
  }

  #isForMetrics({ method, target, fields }: RequestMessage): boolean {
    if (method !== 'GET' || !target.startsWith(metricsPath)) return false;
    try {
      const { address } = resolveTarget(target, fields.get('host'), this.#deps.hostNames);
      return address.kind === 'internal' && address.path === metricsPath;
    } catch (error) {
      if (error instanceof S3Error) return false;
      throw error;
    }
  }
}

interface Reply {
  readonly status: number;
  readonly fields: readonly (readonly [string, string])[];
  readonly body: string;
}

const plain = [['content-type', 'text/plain; charset=utf-8']] as const;

const refusal: Reply = {
  status: 401,
  fields: [...plain, ['www-authenticate', 'Bearer realm="metrics"']],
  body: 'The bearer token of --metrics-token-file is wanted.\n',
};
