import { createServer, type RequestListener } from 'node:http';
import type { Telemetry } from '../../../../shared/ports/telemetry.ts';
import { closing, listen } from '../../http/listening.ts';
import { expositionType } from './exposition.ts';

/** A listener for metrics alone. */
export interface MetricsServer {
  /** `http://127.0.0.1:9002` */
  readonly url: string;
  close(patience: number): Promise<void>;
}

/** No other machine reaches it. */
const host = '127.0.0.1';

/**
 * Serves metrics at `/metrics`, on a port of this machine that nothing else has. Whoever may run programs there may read them.
 * @throws OperatorError if the port is taken
 */
export async function startMetricsServer(
  port: number,
  scrape: () => Promise<string>,
  telemetry: Telemetry,
): Promise<MetricsServer> {
  const listener: RequestListener = (request, response) => {
    const reply = (status: number, type: string, body: string): void => {
      response.writeHead(status, {
        'content-type': type,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      });
      response.end(body);
    };
    const refuse = (status: number, text: string): void => reply(status, 'text/plain; charset=utf-8', `${text}\n`);
    // A stranger's page in a browser of this machine, whose name leads here (DNS rebinding), reads nothing.
    if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/i.test(request.headers.host ?? '')) {
      return refuse(421, 'Ask for the metrics at 127.0.0.1 or localhost.');
    }
    if (request.method !== 'GET') return refuse(405, 'Only GET is supported here.');
    if (request.url?.split('?', 1)[0] !== '/metrics') return refuse(404, 'The metrics are at /metrics.');
    scrape().then(
      (text) => reply(200, expositionType, text),
      (error: unknown) => {
        telemetry.problem('the metrics could not be measured', error);
        refuse(503, 'The metrics could not be measured.');
      },
    );
  };
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 30_000 }, listener);
  const close = closing(server);
  return { url: await listen(server, { port, host }, false, { option: '--metrics-port' }), close };
}
