import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../support/programs/program.ts';
import { startService } from '../support/programs/server.ts';
import { materialise, type Cut } from './cuts.ts';
import { Disk } from './disk.ts';
import { readRecord, type DiskEvent } from './record.ts';
import { recorderOf, type Recording } from './recording.ts';

/** A recorded start of the service on the remains of a power cut. */
export interface Recovery extends Recording {
  /** The number of events that create the directory left by the cut. The later ones belong to the start. */
  readonly beginning: number;
}

/**
 * Starts the service on the remains of a cut of another run, lets it free released content, and stops it.
 * @returns a run in which all requests before the cut were answered, and none after it
 */
export async function recordRecovery(
  library: string,
  { first, cut, processes }: { readonly first: Recording; readonly cut: Cut; readonly processes: number },
): Promise<Recovery> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-recovery-'));
  const root = join(folder, 'disk');
  const before = first.events.slice(0, cut.at);
  const disk = new Disk(first.root, first.rootInode);
  for (const event of before) disk.apply(event);
  materialise(disk, cut, root, join(folder, 'kept'));
  const left = [...before.filter(({ type }) => type === 'answer'), ...(await eventsOf(root))];

  const file = join(folder, 'record');
  const data = join(root, 'data');
  const recorder = recorderOf({ library, file, root, processes });
  const service = await startService({ data, ...recorder });
  // The command itself follows the feed, and so writes to the table as well.
  const { env } = recorder;
  const released = await runProgram(['release', '--data', data], { ...(env && { env }), killAfter: 120_000 });
  if (released.code !== 0) throw new Error(`nothing was released: ${released.stderr}`);
  if ((await service.stop()) !== 0) throw new Error(`the service did not stop: ${service.output.stderr}`);
  return {
    events: [...left, ...(await readRecord(file))],
    beginning: left.length,
    root,
    rootInode: String((await stat(root)).ino),
    clients: first.clients,
    created: first.created,
    remove: () => rm(folder, { recursive: true }),
  };
}

/** Returns events that create a directory as it is, all of it synced: after a failure, a disk holds nothing else. */
async function eventsOf(root: string): Promise<DiskEvent[]> {
  const events: DiskEvent[] = [];
  const paths = new Map<string, string>();
  const sync = (inode: string): void => {
    const call = `sync of ${inode}`;
    events.push({ type: 'sync', call, inode }, { type: 'end', call, result: 0 });
  };
  const visit = async (directory: string, inodeOfDirectory: string): Promise<void> => {
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      const inode = String((await stat(path)).ino);
      const from = paths.get(inode);
      if (entry.isDirectory()) {
        events.push({ type: 'mkdir', inode, path });
        await visit(path, inode);
      } else if (from !== undefined) {
        events.push({ type: 'link', from, path });
      } else {
        const bytes = await readFile(path);
        const call = `write of ${inode}`;
        events.push({ type: 'create', inode, path });
        events.push({ type: 'write', call, inode, offset: 0, isSynchronous: false, bytes });
        events.push({ type: 'end', call, result: bytes.length });
        sync(inode);
        paths.set(inode, path);
      }
    }
    sync(inodeOfDirectory);
  };
  await visit(root, String((await stat(root)).ino));
  return events;
}
