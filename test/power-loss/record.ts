import { readFile, truncate } from 'node:fs/promises';

/** A change of a disk by a program, or a response to a client, as disk-recorder.c has recorded it. */
export type DiskEvent =
  | { readonly type: 'create' | 'mkdir'; readonly inode: string; readonly path: string }
  | { readonly type: 'link' | 'rename'; readonly from: string; readonly path: string }
  | { readonly type: 'unlink' | 'rmdir'; readonly path: string }
  | {
      readonly type: 'write';
      readonly call: string;
      readonly inode: string;
      readonly offset: number;
      /** True if the file was opened with O_DSYNC. */
      readonly isSynchronous: boolean;
      readonly bytes: Buffer;
    }
  | { readonly type: 'truncate'; readonly call: string; readonly inode: string; readonly size: number }
  | { readonly type: 'sync'; readonly call: string; readonly inode: string }
  /** A write, truncation or sync has ended. */
  | { readonly type: 'end'; readonly call: string; readonly result: number }
  /** The process was killed in a write which the file has, as who reads it sees, and the next sync makes durable. */
  | { readonly type: 'killed'; readonly call: string }
  /** A response is sent. */
  | { readonly type: 'answer'; readonly requestId: string };

/** Reads a record. A last event that is not whole is left out. @throws Error if something happened that cannot be recorded */
export async function readRecord(path: string): Promise<DiskEvent[]> {
  const record = await readFile(path);
  return wholeEvents(record).map(([at, end]) => {
    const call = String(record.readBigUInt64LE(at + 5));
    return eventOf(String.fromCharCode(record[at + 4]!), call, record.subarray(at + 13, end));
  });
}

/** Cuts off a last event that a killed process has not written whole, so that others can follow. */
export async function cutTornEvent(path: string): Promise<void> {
  await truncate(path, wholeEvents(await readFile(path)).at(-1)?.[1] ?? 0);
}

/** Returns where each event begins and ends. */
function wholeEvents(record: Buffer): (readonly [number, number])[] {
  const events: [number, number][] = [];
  for (let at = 0; at + 4 <= record.length;) {
    const end = at + 4 + record.readUInt32LE(at);
    if (end > record.length) break;
    events.push([at, end]);
    at = end;
  }
  return events;
}

/** Returns the creation or removal of a file as disk-recorder.c records it. */
export function encodeName(type: 'create' | 'unlink', path: string, inode = 0): Buffer {
  const text = Buffer.from(path);
  const event = Buffer.alloc(type === 'create' ? 21 : 13);
  event.writeUInt32LE(event.length - 4 + text.length, 0);
  event.write(type === 'create' ? 'C' : 'U', 4);
  if (type === 'create') event.writeBigUInt64LE(BigInt(inode), 13);
  return Buffer.concat([event, text]);
}

/** Returns the end of a write by the death of its process. */
export function encodeKilled(call: string): Buffer {
  const event = Buffer.alloc(13);
  event.writeUInt32LE(event.length - 4, 0);
  event.write('K', 4);
  event.writeBigUInt64LE(BigInt(call), 5);
  return event;
}

function eventOf(type: string, call: string, rest: Buffer): DiskEvent {
  const inode = (): string => String(rest.readBigUInt64LE(0));
  const number = (): number => Number(rest.readBigUInt64LE(8));
  switch (type) {
    case 'C':
      return { type: 'create', inode: inode(), path: rest.toString('utf8', 8) };
    case 'M':
      return { type: 'mkdir', inode: inode(), path: rest.toString('utf8', 8) };
    case 'L':
    case 'R': {
      const [from, path] = rest.toString().split('\0') as [string, string];
      return { type: type === 'L' ? 'link' : 'rename', from, path };
    }
    case 'U':
      return { type: 'unlink', path: rest.toString() };
    case 'D':
      return { type: 'rmdir', path: rest.toString() };
    case 'W':
      return {
        ...{ type: 'write', call, inode: inode(), offset: number() },
        ...{ isSynchronous: rest[16] === 1, bytes: rest.subarray(17) },
      };
    case 'T':
      return { type: 'truncate', call, inode: inode(), size: number() };
    case 'S':
      return { type: 'sync', call, inode: inode() };
    case 'E':
      return { type: 'end', call, result: Number(rest.readBigInt64LE(0)) };
    case 'K':
      return { type: 'killed', call };
    case 'A':
      return { type: 'answer', requestId: rest.toString() };
    default:
      throw new Error(`the service did what cannot be recorded: ${rest.toString()}`);
  }
}
