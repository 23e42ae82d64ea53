import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

/** Returns the memory of a process without mapped files, in bytes. */
export function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
}

/** Returns the number of file handles of a process. */
export function handlesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Opens connections that send nothing. They stay open until either side closes them. */
export async function idleConnections(url: string, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 1) {
    const socket = connect(Number(port), hostname);
    // A service that closes it may reset it.
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    sockets.push(socket);
  }
  return sockets;
}
