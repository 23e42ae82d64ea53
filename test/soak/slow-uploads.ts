import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RawConnection, requestBytes } from '../support/clients/raw-client.ts';
import { alice, startService, type Service } from '../support/programs/server.ts';
import { signed, type Unsigned } from '../support/clients/signer.ts';
import { sample } from './samples.ts';
import { flatnessOf, type Flatness, type Sample } from './verdict.ts';

export interface SlowUploadsOptions {
  /** At least 9: a median of a third needs three samples. */
  readonly rounds: number;
  /** How many are in progress at once. */
  readonly uploads: number;
  readonly workers: number;
}

const size = 600_000;
const pieces = 6;
/** Milliseconds between two pieces of an upload. */
const pause = 500;
/** Milliseconds after a round: garbage is collected at the second look, twenty seconds after the last body. */
const rest = 30_000;

/** Runs rounds of slow uploads, half of which are abandoned, and samples the processes after each. @param tell takes a line of progress */
export async function slowUploads(
  { rounds, uploads, workers }: SlowUploadsOptions,
  tell: (line: string) => void,
): Promise<readonly Flatness[]> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-soak-'));
  const limits = `bodyIdle=600000,concurrentUploads=${4 * uploads}`;
  const service = await startService({
    data: join(folder, 'data'),
    args: ['--workers', String(workers), '--limit', limits],
  });
  try {
    const connection = await begin(service, { method: 'PUT', path: '/bucket' });
    await finish(connection, Buffer.alloc(0));
    const samples: Sample[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      await slowRound(service, uploads);
      const peak = await sample(service.pid, service.data, []);
      await sleep(rest);
      samples.push(await sample(service.pid, service.data, []));
      tell(`round ${round}: ${textOf(samples.at(-1)!)}; before the rest ${textOf(peak)}`);
    }
    return flatnessOf(samples, ['primaryMemory', 'oldestWorkerMemory', 'primaryHandles', 'oldestWorkerHandles']);
  } finally {
    await service.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

async function slowRound(service: Service, uploads: number): Promise<void> {
  const body = Buffer.alloc(size, 'content ');
  const connections = await Promise.all(
    Array.from({ length: uploads }, (_, at) => begin(service, { method: 'PUT', path: `/bucket/slow-${at}`, body })),
  );
  for (let piece = 0; piece < pieces - 1; piece += 1) {
    await sleep(pause);
    const bytes = body.subarray((piece * size) / pieces, ((piece + 1) * size) / pieces);
    await Promise.all(connections.map((connection) => connection.sent(bytes)));
  }
  const last = body.subarray(((pieces - 1) * size) / pieces);
  for (const [at, connection] of connections.entries()) {
    if (at % 2 === 0) await finish(connection, last);
    else connection.close();
  }
}

/** Sends the head of a request. */
async function begin({ url }: Service, request: Unsigned): Promise<RawConnection> {
  const connection = await RawConnection.open(url);
  await connection.sent(requestBytes({ ...signed(new URL(url).host, request, { key: alice }), body: '' }));
  return connection;
}

async function finish(connection: RawConnection, rest: Buffer): Promise<void> {
  connection.write(rest);
  const { status, text } = await connection.response('PUT');
  connection.close();
  if (status !== 200) throw new Error(`an upload was answered ${status}: ${text}`);
}

function textOf({ primaryMemory, oldestWorkerMemory, primaryHandles, oldestWorkerHandles }: Sample): string {
  const MiB = (bytes: number | undefined): string => (bytes === undefined ? '?' : (bytes / 2 ** 20).toFixed(1));
  return `${MiB(primaryMemory)} + ${MiB(oldestWorkerMemory)} MiB, handles ${primaryHandles ?? '?'} + ${oldestWorkerHandles ?? '?'}`;
}
