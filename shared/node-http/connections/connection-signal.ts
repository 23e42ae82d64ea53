import type { Socket } from 'node:net';
import { ClientGone } from '../../errors/client-gone.ts';

const signals = new WeakMap<Socket, AbortSignal>();

/** Returns the signal of a connection, which is aborted when it is closed: nobody waits for what its requests asked for. */
export function connectionSignal(socket: Socket): AbortSignal {
  let signal = signals.get(socket);
  if (signal !== undefined) return signal;
  if (socket.destroyed) return AbortSignal.abort(new ClientGone());
  const controller = new AbortController();
  ({ signal } = controller);
  socket.once('close', () => controller.abort(new ClientGone()));
  signals.set(socket, signal);
  return signal;
}
