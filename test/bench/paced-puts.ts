import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PooledClient } from '../support/clients/pooled-client.ts';
import { percentile } from './requests/statistics.ts';

/** PUT requests at a steady rate, to a thousand keys in turn. */
interface Load {
  readonly bucket: string;
  readonly perSecond: number;
  /** Bytes of each object. */
  readonly size: number;
}

/** Latencies of PUT in milliseconds. */
export interface Latencies {
  readonly requests: number;
  readonly p50: number;
  readonly p99: number;
}

/**
 * Puts objects at a steady rate until something has ended. Latencies count from when a request was due.
 * @throws Error if a request fails
 */
export async function pacedPuts(
  client: PooledClient,
  { bucket, perSecond, size }: Load,
  meanwhile: Promise<unknown>,
): Promise<Latencies> {
  const times: number[] = [];
  const pending = new Set<Promise<void>>();
  let hasEnded = false;
  let failure: { readonly error: unknown } | undefined;
  const ended = meanwhile.finally(() => (hasEnded = true));
  // It is awaited below, after the requests.
  ended.catch(() => undefined);
  const began = performance.now();
  for (let at = 0; !hasEnded; at += 1) {
    const due = began + (at * 1000) / perSecond;
    const early = due - performance.now();
    if (early > 0) await sleep(early);
    const one = put(client, `/${bucket}/put-${at % 1000}`, randomBytes(size))
      .then(
        () => void times.push(performance.now() - due),
        (error: unknown) => void (failure ??= { error }),
      )
      .finally(() => pending.delete(one));
    pending.add(one);
  }
  await Promise.all(pending);
  await ended;
  if (failure !== undefined) throw failure.error;
  return { requests: times.length, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

/** @throws Error unless it is done */
export async function put(client: PooledClient, path: string, body: Buffer | string): Promise<void> {
  const { status, text } = await client.send({ method: 'PUT', path, body });
  if (status !== 200) throw new Error(`PUT ${path}: ${status} ${text}`);
}
