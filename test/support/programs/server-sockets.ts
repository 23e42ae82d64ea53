import { readFile } from 'node:fs/promises';

/** Returns whether a process still has the server's side of a connection between IPv4 addresses, also if one side is closed. */
export async function isHeld(serverPort: number, clientPort: number): Promise<boolean> {
  const lines = (await readFile('/proc/net/tcp', 'utf8')).trim().split('\n').slice(1);
  return lines.some((line) => {
    const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/);
    // Of a connection that its process has closed, the system may keep the rest for a while: without an inode.
    return portOf(local!) === serverPort && portOf(remote!) === clientPort && inode !== '0';
  });
}

/** @param address `0100007F:2328` */
function portOf(address: string): number {
  return parseInt(address.slice(address.indexOf(':') + 1), 16);
}
