import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import {
  loadDigest,
  startDigest,
  type DigestAlgorithm,
  type RunningDigest,
} from '../../../shared/checksums/running-digest.ts';
import { DigestRing, type DigestOrder, type DigestReply } from './digest-ring.ts';

/* A thread that computes digests of bodies, several at a time: see worker-digests.ts. */

interface Body {
  readonly ring: DigestRing;
  readonly digests: readonly (readonly [DigestAlgorithm, RunningDigest])[];
}

/** The nice value: on busy processors, a third of the weight of other threads. */
const niceness = 5;

const bodies = new Map<number, Body>();
const port = parentPort!;
const reply = (message: DigestReply): void => port.postMessage(message);

function follow(order: DigestOrder): void {
  if (order.do === 'start') {
    const digests = order.algorithms.map((algorithm) => [algorithm, startDigest(algorithm)] as const);
    bodies.set(order.body, { ring: new DigestRing(order.memory), digests });
    return;
  }
  const { ring, digests } = bodies.get(order.body)!;
  if (order.do === 'update') {
    const slot = ring.slot(order.slot);
    for (const [start, length] of order.pieces) {
      const bytes = slot.subarray(start, start + length);
      for (const [, digest] of digests) digest.update(bytes);
    }
    if (ring.release(order.slot)) reply({ body: order.body });
    return;
  }
  bodies.delete(order.body);
  const wanted = order.do === 'end' ? digests : [];
  const values = wanted.map(([algorithm, digest]) => [algorithm, Uint8Array.from(digest.digest())] as const);
  reply({ body: order.body, digests: values });
}

// The serving thread has priority, since others wait for it. On Linux this affects only the calling thread: setpriority(2).
// A service that was started with less priority than that may not raise it.
if (process.platform === 'linux') setPriority(Math.max(getPriority(), niceness));
await loadDigest('CRC32C');
await loadDigest('CRC64NVME');
port.on('message', (orders: readonly DigestOrder[]) => orders.forEach(follow));
