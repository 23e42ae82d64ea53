import { readFile } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { Certificates } from './certificates.ts';

/** A server that terminates TLS for one without TLS. */
export interface TlsFront {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** Listens with TLS, and forwards all bytes to a port of this machine. @param at the port to listen on; 0: any */
export async function startTlsFront(port: number, { certificate, key }: Certificates, at = 0): Promise<TlsFront> {
  const open = new Set<TLSSocket>();
  const server = createServer({ cert: await readFile(certificate), key: await readFile(key) }, (client) => {
    open.add(client.once('close', () => open.delete(client)));
    const behind = connect(port, '127.0.0.1');
    client.pipe(behind).pipe(client);
    // If one connection closes, the other is closed after its pending data is sent.
    client.on('error', () => client.destroy()).once('close', () => behind.destroySoon());
    behind.on('error', () => behind.destroy()).once('close', () => client.destroySoon());
  });
  await new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      for (const client of open) client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
