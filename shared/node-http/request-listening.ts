import type { RequestListener, Server } from 'node:http';
import type { Limits } from '../protocol/limits.ts';
import { readInSlices } from './connections/sliced-reading.ts';

/** The options of every server for requests of S3 clients, for HTTP and HTTPS. */
export function serverOptions({ requestDuration }: Pick<Limits, 'requestDuration'>) {
  return {
    maxHeaderSize: 64 * 1024,
    requestTimeout: requestDuration,
    // Often enough to enforce a short limit, too.
    connectionsCheckingInterval: Math.min(30_000, Math.ceil(requestDuration / 4)),
    noDelay: true,
    // A request without Host gets an S3 error from the pipeline.
    requireHostHeader: false,
  };
}

/** Passes all requests that a server receives to a listener. */
export function listenToRequests(server: Server & { httpAllowHalfOpen?: boolean }, listener: RequestListener): void {
  readInSlices(server);
  server.on('request', listener).on('checkContinue', listener).on('checkExpectation', listener);
  // Node would silently drop fields after the thousandth. maxHeaderSize bounds them.
  server.maxHeadersCount = 0;
  // A client that has sent everything may close its side of the connection, and wait for its responses. Otherwise Node would close the other side.
  server.httpAllowHalfOpen = true;
}
