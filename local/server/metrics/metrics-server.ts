import { createServer, type RequestListener } from 'node:http';
import type { Telemetry } from '../../../shared/ports/telemetry.ts';
import { closing, listen } from '../../../shared/node-http/connections/listening.ts';
import { withoutBodies } from '../../../shared/node-http/last-response.ts';
import { oneAfterAnother } from '../../../shared/node-http/connections/one-after-another.ts';
import { readInSlices } from '../../../shared/node-http/connections/sliced-reading.ts';
import { expositionType } from './exposition.ts';

/** A listener that serves only metrics. */
export interface MetricsServer {
  /** `http://127.0.0.1:9002` */
  readonly url: string;
  close(patience: number): Promise<void>;
}

/** The loopback address, which other machines cannot reach. */
const host = '127.0.0.1';

/**
 * Serves metrics at `/metrics`, on a separate port of this machine. Every user of the machine can read them.
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
    // Keeps out web pages in a browser of this machine whose host name resolves to this address (DNS rebinding).
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
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 30_000 },
    oneAfterAnother(withoutBodies(listener)),
  );
  readInSlices(server);
  const close = closing(server);
  return { url: await listen(server, { port, host }, false, { option: '--metrics-port' }), close };
}
