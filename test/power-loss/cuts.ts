import { existsSync, linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../linearizability/random.ts';
import { Disk, type Choice, type Sync } from './disk.ts';
import type { Inspector } from './inspection.ts';
import type { Found } from './inspector.ts';
import type { File } from './nodes.ts';
import type { Recording } from './recording.ts';
import type { DiskEvent } from './record.ts';
import { clientOf, nothing, partOf, textOf } from './world.ts';

/** The part of unsynced data that a power cut leaves. */
export const severities = [
  'nothing',
  'names',
  'data',
  'sizes',
  'pages',
  'sectors',
  'all but one',
  'everything',
] as const;
type Severity = (typeof severities)[number];

/** A power cut, whose effect its seed determines. */
export interface Cut {
  /** The number of events before the cut. */
  readonly at: number;
  readonly severity: Severity;
  readonly seed: number;
}

/** A cut after which something was wrong. */
export interface Loss {
  readonly cut: Cut;
  readonly what: string;
}

interface LossOptions {
  /** Syncs to treat as if they had not been made. */
  readonly ignores?: (sync: Sync) => boolean;
  /** The number of losses to look for. Default: 1. */
  readonly most?: number;
  /** Whether to scrub what each cut leaves before the service starts on it, too. */
  readonly isScrubbedFirst?: boolean;
}

const sectorsOfPage = 8;

/** Returns how a cut chooses. */
export function choiceOf({ severity, seed }: Cut): Choice {
  const random = new Random(seed);
  const share = random.oneOf([0.1, 0.5, 0.9]);
  const any = (count: number): number => (count > 1 && random.next() < share ? 1 + random.below(count - 1) : 0);
  const last = (count: number): number => count - 1;
  const first = (): number => 0;
  const names = { names: any, pages: any, sectors: any, 'all but one': last, everything: last, sizes: last };
  const name = (count: number): number => (severity in names ? names[severity as keyof typeof names](count) : 0);
  /** The place of the latest page between its oldest and newest content. */
  let page: { file: File; number: number; place: number } | undefined;
  const spared = new Map<File, number>();
  const data = (file: File, unit: number, count: number): number => {
    switch (severity) {
      case 'nothing':
      case 'names':
        return first();
      case 'data':
      case 'everything':
        return last(count);
      case 'sizes':
        return unit < 0 ? last(count) : first();
      case 'sectors':
        return any(count);
      case 'pages': {
        const number = unit < 0 ? -1 : Math.floor(unit / sectorsOfPage);
        if (page?.file !== file || page.number !== number) {
          page = { file, number, place: random.next() < share ? random.next() : 0 };
        }
        return Math.min(count - 1, Math.floor(page.place * count));
      }
      case 'all but one': {
        if (!spared.has(file)) spared.set(file, random.oneOf([-1, ...file.dirtySectors]));
        return spared.get(file) === unit ? first() : last(count);
      }
    }
  };
  return { data: (file, unit, count) => data(file, unit, count), name: (_, __, count) => name(count) };
}

/**
 * Cuts the power of a recorded run at these moments, starts the service on the remains of each cut, and compares its data with the
 * acknowledged changes.
 * @param ignores syncs to treat as if they had not been made
 * @param most the number of losses after which to stop
 */
export async function findLosses(
  recording: Recording,
  cuts: readonly Cut[],
  inspector: Inspector,
  { ignores, most = 1, isScrubbedFirst = false }: LossOptions = {},
): Promise<Loss[]> {
  const fast = '/dev/shm';
  const folder = mkdtempSync(join(existsSync(fast) ? fast : tmpdir(), 'stillage-cuts-'));
  const losses: Loss[] = [];
  try {
    const disk = new Disk(recording.root, recording.rootInode, ignores);
    const answered = new Set<string>();
    let at = 0;
    for (const cut of cuts.toSorted((a, b) => a.at - b.at)) {
      for (; at < cut.at; at += 1) {
        const event = recording.events[at]!;
        disk.apply(event);
        if (event.type === 'answer') answered.add(event.requestId);
      }
      const directory = join(folder, 'disk');
      materialise(disk, cut, directory, join(folder, 'kept'));
      const found = await inspector.inspect({ data: join(directory, 'data'), isScrubbedFirst });
      const what = 'failure' in found ? found.failure : compare(recording, answered, found.found);
      if (what !== undefined) {
        losses.push({ cut, what });
        // It may have left the table open.
        inspector.close();
      }
      if (losses.length >= most) break;
      rmSync(directory, { recursive: true });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return losses;
}

/** Writes the remains of a cut to a directory. Complete files are links to one copy: the service does not change blobs. */
export function materialise(disk: Disk, cut: Cut, directory: string, kept: string): void {
  const choice = choiceOf(cut);
  const { directories, files } = disk.after(choice);
  mkdirSync(directory, { mode: 0o700 });
  mkdirSync(kept, { recursive: true });
  for (const path of directories) mkdirSync(join(directory, path), { mode: 0o700 });
  for (const { path, file } of files) {
    const target = join(directory, path);
    const isTable = path.endsWith('.mdb');
    // LMDB recreates its lock file when no process has it open, whatever its content.
    if (path.endsWith('/lock.mdb')) writeFileSync(target, Buffer.alloc(8192, `garbage ${cut.seed}`), { mode: 0o600 });
    else if (isTable || !file.isClean) writeFileSync(target, file.after(choice), { mode: 0o600 });
    else {
      const copy = join(kept, `${file.path.replaceAll('/', '-')}-${file.version}`);
      if (!existsSync(copy)) writeFileSync(copy, file.after(choice), { mode: 0o600 });
      linkSync(copy, target);
    }
  }
}

/** Returns the differences from the expected state, or undefined. */
function compare({ clients, created }: Recording, answered: ReadonlySet<string>, found: Found): string | undefined {
  const faults = [...found.faults];
  const names = new Set(clients.map(({ name }) => name));
  for (const place of [...Object.keys(found.world.objects), ...Object.keys(found.world.uploads)]) {
    if (!names.has(clientOf(place) ?? '')) faults.push(`nobody made ${place}`);
  }
  const etags = new Map<string, Set<string>>();
  for (const client of clients) {
    for (const [md5, some] of client.etags) etags.set(md5, new Set([...(etags.get(md5) ?? [md5]), ...some]));
  }
  for (const [md5, etag] of found.etags) {
    if (!etags.get(md5)?.has(etag)) faults.push(`bytes with the MD5 ${md5} have the ETag ${etag}`);
  }
  for (const client of clients) {
    const after = client.sent.findLastIndex(({ requestId }) => requestId !== undefined && answered.has(requestId));
    const settled = after < 0 ? nothing : client.sent[after]!.outcomes.at(-1)!;
    const next = client.sent[after + 1];
    const possible = [settled, ...(next?.outcomes ?? [])].map(textOf);
    const seen = textOf(partOf(found.world, client.name));
    if (!possible.includes(seen)) {
      faults.push(
        `${client.name}, after ${after + 1} requests of which the last is ${client.sent[after]?.what}, then ${next?.what}:\n` +
          `  expected ${possible.join('\n        or ')}\n  found    ${seen}`,
      );
    }
  }
  if (created.every((id) => !answered.has(id)) && faults.length === 0) return undefined;
  return faults.length === 0 ? undefined : faults.join('\n');
}

/** Returns the places in a record where a cut is worth most: just before and after the end of each sync, and as each answer is sent. */
export function boundaries(events: readonly DiskEvent[]): number[] {
  const calls = new Set<string>();
  return events.flatMap((event, index) => {
    if (event.type === 'sync' || (event.type === 'write' && event.isSynchronous)) calls.add(event.call);
    if (event.type === 'end' && calls.has(event.call)) return [index, index + 1];
    return event.type === 'answer' ? [index + 1] : [];
  });
}
