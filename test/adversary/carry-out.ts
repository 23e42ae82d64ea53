import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from './attacks.ts';

/** How long a client that reads waits for more, at most how long it stays, and how long one stays that does not read. */
const times = { forMore: 250, atMost: 4000, unread: 600 } as const;

/** Sends the same bytes on each connection of an attack, leaves as it says, and returns how many bytes the other side took and gave. */
export async function carryOut(
  attack: Attack,
  port: number,
  bytes: Buffer,
): Promise<{ sent: number; received: number }> {
  const sockets = await Promise.all(Array.from({ length: attack.connections }, () => open(port)));
  try {
    await Promise.all(sockets.map((socket) => act(socket, attack, bytes)));
    return {
      sent: sockets.reduce((sum, socket) => sum + socket.bytesWritten - socket.writableLength, 0),
      received: sockets.reduce((sum, socket) => sum + socket.bytesRead, 0),
    };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  // The service may reset it.
  socket.on('error', () => undefined);
  return socket;
}

async function act(socket: Socket, { framing, leaving }: Attack, bytes: Buffer): Promise<void> {
  let last = performance.now();
  const reads = leaving !== 'reads nothing' && leaving !== 'reads slowly';
  let first: () => void;
  const answered = new Promise<void>((resolve) => (first = resolve));
  if (reads) {
    socket.on('data', () => {
      last = performance.now();
      first();
    });
  }
  const sending = send(socket, framing, leaving === 'stays idle' ? bytes.subarray(0, -1) : bytes);
  switch (leaving) {
    case 'reads slowly':
      for (let left = times.unread; left > 0 && !socket.destroyed; left -= 20) {
        socket.read(16);
        await sleep(20);
      }
      return;
    case 'reads nothing':
      return sleep(times.unread);
    case 'stays idle':
      return sleep(times.unread);
    case 'resets at once':
      await Promise.race([sending, sleep(times.unread)]);
      return void socket.resetAndDestroy();
    case 'resets in a response':
      await Promise.race([answered, sleep(times.unread)]);
      return void socket.resetAndDestroy();
    case 'half-closes':
    case 'reads all': {
      if (leaving === 'half-closes') void sending.then(() => socket.end());
      const begun = performance.now();
      while (!socket.destroyed && !socket.readableEnded && performance.now() - begun < times.atMost) {
        await sleep(20);
        if (socket.bytesRead > 0 && performance.now() - last > times.forMore && socket.writableLength === 0) return;
      }
    }
  }
}

async function send(socket: Socket, framing: Attack['framing'], bytes: Buffer): Promise<void> {
  if (framing !== 'piecemeal') {
    await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
    return;
  }
  socket.setNoDelay();
  // The whole head and then a byte at a time would be no more than a slow upload: this cuts heads, too.
  const begun = performance.now();
  for (let at = 0; at < bytes.length && performance.now() - begun < times.unread; at += 16) {
    if (socket.destroyed) return;
    socket.write(bytes.subarray(at, at + 16));
    await sleep(0);
  }
}
