import { S3Error } from '../../../shared/errors/s3-error.ts';
import { resolveTarget, type HostNames } from '../../../shared/http/address.ts';
import { Fields, type RequestMessage, type ResponseMessage } from '../../../shared/http/message.ts';
import type { Handler } from '../../../shared/node-http/node-http.ts';
import type { LocalService } from '../local-service.ts';
import { expositionType } from './exposition.ts';
import type { StartOptions } from '../../../shared/command-line/start-options.ts';
import { MetricsToken } from './metrics-token.ts';

const metricsPath = '/_stillage/metrics';

interface MetricsHandlerDeps {
  readonly service: LocalService;
  readonly token: MetricsToken;
  readonly scrape: () => Promise<string>;
  readonly hostNames: HostNames;
}

/**
 * Returns the service, which answers requests for metrics if the options name the file of a token.
 * @throws OperatorError if the file holds no token
 */
export async function withMetrics(
  service: LocalService,
  { metricsTokenFile: file, domain, websiteDomain }: StartOptions,
  scrape: () => Promise<string>,
): Promise<Handler> {
  if (file === undefined) return service;
  const hostNames = { domain: domain.toLowerCase(), websiteDomain: websiteDomain.toLowerCase() };
  return new MetricsHandler({ service, scrape, hostNames, token: await MetricsToken.read(file) });
}

/** Serves `GET /_stillage/metrics` to requests with the token, and passes all others on. */
class MetricsHandler implements Handler {
  readonly #deps: MetricsHandlerDeps;

  constructor(deps: MetricsHandlerDeps) {
    this.#deps = deps;
  }

  async handle(request: RequestMessage): Promise<ResponseMessage> {
    if (!this.#isForMetrics(request)) return this.#deps.service.handle(request);
    const { token, service } = this.#deps;
    const began = Date.now();
    const id = service.composed.requestId();
    const isAdmitted = await token.admits(request.fields);
    const { status, fields, body } = isAdmitted ? await this.#metrics() : refusal;
    service.telemetry.request({
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
      this.#deps.service.telemetry.problem('the metrics could not be measured', error);
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
