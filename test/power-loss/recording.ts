import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Random } from '../linearizability/random.ts';
import { PooledClient } from '../support/clients/pooled-client.ts';
import { alice, startService, type Service, type ServiceOptions } from '../support/programs/server.ts';
import { choiceOf } from './cuts.ts';
import { Disk } from './disk.ts';
import { cutTornEvent, encodeKilled, encodeName, readRecord, type DiskEvent } from './record.ts';
import { Client, sharedBuckets, type Mix } from './workload.ts';

/** A run of the service, with everything that it did to its disk. */
export interface Recording {
  readonly events: readonly DiskEvent[];
  /** The directory that was recorded, in which the data directory is `data`. */
  readonly root: string;
  readonly rootInode: string;
  readonly clients: readonly Client[];
  /** The requests that created the shared buckets. */
  readonly created: readonly string[];
  remove(): Promise<void>;
}

const clientsOfRun = 8;
/** Threads of libuv in one process: each makes one call at a time. */
const threadsOfProcess = 4;

/** Compiles the recorder into a directory. @returns its path, or why it cannot be used here */
export async function buildRecorder(directory: string): Promise<{ library: string } | { whyNot: string }> {
  if (process.platform !== 'linux') return { whyNot: 'LD_PRELOAD needs Linux' };
  const library = join(directory, 'disk-recorder.so');
  const source = join(import.meta.dirname, 'disk-recorder.c');
  try {
    await promisify(execFile)('gcc', ['-O1', '-shared', '-fPIC', '-o', library, source]);
    return { library };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { whyNot: 'no C compiler is installed; to run this: apt-get install gcc libc6-dev' };
  }
}

/** Returns the options of a service under the recorder. @param file to which the record is added */
export function recorderOf({
  library,
  file,
  root,
  processes,
}: {
  readonly library: string;
  readonly file: string;
  readonly root: string;
  readonly processes: number;
}): Pick<ServiceOptions, 'args' | 'env'> {
  return {
    args: ['--workers', String(processes), '--limit', 'minimumPartBytes=1', '--release-grace', '0s'],
    env: { LD_PRELOAD: library, DISK_RECORD: file, DISK_RECORD_ROOT: root, UV_USE_IO_URING: '0' },
  };
}

/**
 * Runs the service as a user starts it, on a new directory, while clients change everything; kills it under load, and runs it once more.
 * @param requests about how many requests to send
 * @param mix what the clients send. Default: everything
 */
export async function record(
  library: string,
  { seed, requests, processes, mix }: { seed: number; requests: number; processes: number; mix?: Mix },
): Promise<Recording> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-power-'));
  const root = join(folder, 'disk');
  await mkdir(root);
  const clients: Client[] = [];
  const created: string[] = [];
  const file = join(folder, 'record');
  for (const isFirst of [true, false]) {
    const service = await startService({
      data: join(root, 'data'),
      ...recorderOf({ library, file, root, processes }),
    });
    if (isFirst) created.push(...(await createBuckets(service)));
    const http = Array.from({ length: clientsOfRun }, () => new PooledClient(service, alice, 1));
    const ours = http.map((one, at) => {
      const number = clients.length + at;
      return new Client(`c${number}`, one, new Random(seed * 1009 + number), mix);
    });
    clients.push(...ours);
    let isStopped = false;
    const work = Promise.all(ours.map((client) => client.run(() => isStopped)));
    const sent = (): number => ours.reduce((sum, client) => sum + client.sent.length, 0);
    while (sent() < requests / 2) await Promise.race([work, sleep(2)]);
    if (isFirst) {
      await service.kill();
      await recordLastNames(file, root, (processes + 1) * threadsOfProcess);
      await recordLastWrites(file, root);
    }
    isStopped = true;
    await work;
    // Stopping the service frees released bytes, and writes everything that is pending.
    if (!isFirst && (await service.stop()) !== 0) throw new Error(`the service did not stop: ${service.output.stderr}`);
    for (const one of http) one.close();
  }
  const events = await readRecord(file);
  const rootInode = String((await stat(root)).ino);
  return { events, root, rootInode, clients, created, remove: () => rm(folder, { recursive: true }) };
}

/**
 * Adds to the record of killed processes the files that they created or removed, but had not recorded yet: names are recorded once they
 * are made.
 * @param most how many there can be
 */
async function recordLastNames(file: string, root: string, most: number): Promise<void> {
  await cutTornEvent(file);
  const events = await readRecord(file);
  const disk = new Disk(root, String((await stat(root)).ino));
  for (const event of events) disk.apply(event);
  const all = choiceOf({ at: events.length, severity: 'everything', seed: 0 });
  const played = new Set(disk.after(all).files.map(({ path }) => join(root, path)));
  const there = (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name !== 'lock.mdb')
    .map((entry) => join(entry.parentPath, entry.name));
  const created = there.filter((path) => !played.has(path));
  const removed = [...played].filter((path) => !there.includes(path) && !path.endsWith('/lock.mdb'));
  if (created.length + removed.length > most) throw new Error(`not recorded: ${[...created, ...removed].join(' ')}`);
  for (const path of created) await appendFile(file, encodeName('create', path, (await stat(path)).ino));
  for (const path of removed) await appendFile(file, encodeName('unlink', path));
}

/**
 * Adds to the record of killed processes that the writes they died in were carried out, where the files show it: the next process goes on from
 * these, and what it syncs includes them.
 */
async function recordLastWrites(file: string, root: string): Promise<void> {
  const events = await readRecord(file);
  const ended = new Set(events.flatMap((event) => (event.type === 'end' ? [event.call] : [])));
  const paths = new Map<string, string>();
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    paths.set(String((await stat(path)).ino), path);
  }
  for (const event of events) {
    if (event.type !== 'write' || ended.has(event.call)) continue;
    const path = paths.get(event.inode);
    const content = path === undefined ? Buffer.alloc(0) : await readFile(path);
    if (content.subarray(event.offset, event.offset + event.bytes.length).equals(event.bytes))
      await appendFile(file, encodeKilled(event.call));
  }
}

async function createBuckets(service: Service): Promise<string[]> {
  const client = new PooledClient(service);
  const body = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
  const made = [];
  for (const bucket of sharedBuckets) made.push(await client.send({ method: 'PUT', path: `/${bucket}` }));
  made.push(await client.send({ method: 'PUT', path: '/versioned', query: 'versioning', body }));
  client.close();
  if (made.some(({ status }) => status !== 200)) throw new Error(made.map(({ text }) => text).join('\n'));
  return made.map(({ headers }) => String(headers['x-amz-request-id']));
}
