import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** A proxy on this machine, for the clients that take one from their environment (`http_proxy`, `https_proxy`). */
export interface ForwardProxy {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

const hopByHop = new Set(['connection', 'proxy-connection', 'keep-alive', 'proxy-authorization', 'te', 'upgrade']);

/**
 * Starts a proxy that takes every host for this machine. Names under `.localhost` are this machine (RFC 6761), but glibc
 * alone does not know: through the proxy its clients need not resolve them. The request itself passes unchanged.
 */
export async function startForwardProxy(): Promise<ForwardProxy> {
  const server = createServer(forward);
  server.on('checkContinue', forward);
  server.on('connect', tunnel);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** `PUT http://bucket.localhost:9000/key`: to the port, with the path as it was written. */
function forward(incoming: IncomingMessage, response: ServerResponse): void {
  const [, port, path] = /^http:\/\/[^/:]+:(\d+)((?:\/.*)?)$/.exec(incoming.url ?? '') ?? [];
  if (port === undefined) return void response.writeHead(400).end();
  const outgoing = request({
    host: '127.0.0.1',
    port,
    path: path === '' ? '/' : path!,
    method: incoming.method ?? 'GET',
    headers: endToEnd(incoming.rawHeaders),
    setHost: false,
  });
  outgoing.on('continue', () => response.writeContinue());
  outgoing.on('response', (answer) => {
    // Its own Connection field, or Node would add a Keep-Alive field, which s3cmd takes for one of the object's.
    response.writeHead(answer.statusCode!, answer.statusMessage, [
      ...endToEnd(answer.rawHeaders),
      'Connection',
      'keep-alive',
    ]);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  incoming.on('error', () => outgoing.destroy());
  if (incoming.headers.expect !== undefined) outgoing.flushHeaders();
  incoming.pipe(outgoing);
}

function endToEnd(raw: readonly string[]): string[] {
  return raw.filter((_, index) => !hopByHop.has(raw[index - (index % 2)]!.toLowerCase()));
}

function tunnel(incoming: IncomingMessage, client: Socket, head: Buffer): void {
  const server = connect(Number(/:(\d+)$/.exec(incoming.url ?? '')?.[1]), '127.0.0.1', () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    server.write(head);
    server.pipe(client);
    client.pipe(server);
  });
  server.on('error', () => client.destroy());
  client.on('error', () => server.destroy());
}
