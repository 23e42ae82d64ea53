import { connect } from 'node:net';
import { patience } from '../runs/patience.ts';

/**
 * Sends bytes at once, and gives all that comes back until the server closes the connection, each byte as a latin1 character.
 * @throws Error if it does not close it
 */
export async function allBytes(url: string, sent: readonly Uint8Array[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const received: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => received.push(bytes)).on('error', () => undefined);
  socket.write(Buffer.concat(sent));
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('close', () => resolve());
      setTimeout(() => reject(new Error('the server keeps the connection open')), patience).unref();
    });
  } finally {
    socket.destroy();
  }
  return Buffer.concat(received).toString('latin1');
}
