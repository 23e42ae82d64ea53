import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

/**
 * Traces the system calls of a process, to prove that it acknowledges nothing before it is on the disk. A test that kills a process cannot
 * show that: written data survives in the system's memory, synced or not.
 */

/** One call of a traced process. Calls of several threads overlap: `began` and `ended` are places in one order of all events. */
export interface SystemCall {
  readonly name: string;
  /** The arguments as strace prints them: `29</data/blobs/1f>, "bytes"..., 2352, 0`. */
  readonly args: string;
  /** -1 for a call that failed. */
  readonly result: number;
  /** The path that strace shows after the number of an opened file. */
  readonly resultPath: string | undefined;
  readonly began: number;
  readonly ended: number;
}

/** The files that have to be on the disk, and the moment by which they have to be. */
export interface SyncExpectation {
  /** Only files below this directory count. */
  readonly within: string;
  /** Files whose content need not survive, such as locks. */
  readonly except?: RegExp;
  /** Each must match the path of a file written before the acknowledgement; otherwise nothing is proved. */
  readonly written: readonly RegExp[];
  /** The call that sends the acknowledgement: everything written before it began must have been synced by then. */
  readonly acknowledgement: (call: SystemCall) => boolean;
}

const dataWrites = [
  'write',
  'pwrite64',
  'writev',
  'pwritev',
  'pwritev2',
  'ftruncate',
  'fallocate',
  'copy_file_range',
  'sendfile',
];
const syncs = ['fsync', 'fdatasync', 'msync'];
const syncsOfAll = ['sync', 'syncfs'];
const opens = ['open', 'openat', 'creat'];
const names = ['mkdir', 'mkdirat', 'rename', 'renameat', 'renameat2', 'link', 'linkat', 'symlink', 'symlinkat'];
const removals = ['unlink', 'unlinkat', 'rmdir'];
const network = ['sendto', 'sendmsg'];
const traced = [...dataWrites, ...syncs, ...syncsOfAll, ...opens, ...names, ...removals, ...network, 'close'];

/** The reason to skip tests that trace processes; undefined if processes can be traced. */
export async function whyNoTracing(): Promise<string | undefined> {
  try {
    await promisify(execFile)('strace', ['-f', '-o', '/dev/null', 'true']);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? 'strace is not installed; to run this: apt-get install strace'
      : 'strace may not trace processes here; in a container, run it with --cap-add=SYS_PTRACE';
  }
}

/** The words to put before a command, so that its calls and those of its children are written to a file. */
export function tracingTo(output: string): readonly [string, ...string[]] {
  return ['strace', '-f', '-y', '-qq', '-s', '80', '-e', `trace=${traced.join(',')}`, '-o', output];
}

/** The environment of a traced process: operations of io_uring are no system calls, and so invisible. */
export const tracedEnvironment = { UV_USE_IO_URING: '0' } as const;

/** The calls written to a file, once the process has ended. */
export async function readTrace(output: string): Promise<SystemCall[]> {
  return parseTrace(await readFile(output, 'utf8'));
}

/** Runs a command to its end. */
export async function traceSyncs(command: readonly [string, ...string[]]): Promise<SystemCall[]> {
  const directory = await mkdtemp(join(tmpdir(), 'system-calls-'));
  try {
    const output = join(directory, 'trace');
    const [program, ...args] = [...tracingTo(output), ...command] as [string, ...string[]];
    await promisify(execFile)(program, args, { env: { ...process.env, ...tracedEnvironment } });
    return await readTrace(output);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Reads the output of `strace -f -y`. */
function parseTrace(text: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const unfinished = new Map<string, { name: string; args: string; began: number }>();
  for (const [event, line] of text.split('\n').entries()) {
    const begin = /^(\d+) +(\w+)\((.*)$/.exec(line);
    if (begin) {
      const [, thread, name, rest] = begin as unknown as [string, string, string, string];
      const pause = rest.lastIndexOf(' <unfinished ...>');
      if (pause >= 0) unfinished.set(thread, { name, args: rest.slice(0, pause), began: event });
      else calls.push(...finished(name, rest, event, event));
      continue;
    }
    const resume = /^(\d+) +<\.\.\. \w+ resumed>(.*)$/.exec(line);
    const pending = resume && unfinished.get(resume[1]!);
    if (pending) {
      unfinished.delete(resume[1]!);
      calls.push(...finished(pending.name, pending.args + resume[2]!, pending.began, event));
    }
  }
  // A call that had not returned when the process ended may have had its effect.
  for (const { name, args, began } of unfinished.values()) {
    calls.push({ name, args, result: 0, resultPath: undefined, began, ended: Infinity });
  }
  return calls.sort((a, b) => a.began - b.began);
}

function finished(name: string, rest: string, began: number, ended: number): SystemCall[] {
  const end = /^(.*)\)\s+= (-?\d+|\?)(?:<(.*)>)?(?:[^\d<>][^<>]*)?$/.exec(rest);
  if (!end) return [];
  const [, args, result, resultPath] = end;
  return [{ name, args: args!, result: result === '?' ? 0 : Number(result), resultPath, began, ended }];
}

/** @throws Error that lists the writes that were acknowledged before they were on the disk */
export function assertSyncedBefore(calls: readonly SystemCall[], expectation: SyncExpectation): void {
  const gaps = unsyncedBefore(calls, expectation);
  if (gaps.length > 0) throw new Error(`acknowledged too early:\n  ${gaps.join('\n  ')}`);
}

/** Returns the writes that could still have been lost when the acknowledgement began. A removed name need not be synced. */
export function unsyncedBefore(calls: readonly SystemCall[], expectation: SyncExpectation): string[] {
  const { within, except, written } = expectation;
  const acknowledgement = calls.find(expectation.acknowledgement);
  if (!acknowledgement) return ['there is no acknowledgement'];
  const deadline = acknowledgement.began;
  const counts = (path: string): boolean => isWithin(path, within) && !except?.test(path);

  const before = calls.filter((call) => call.began < deadline && call.result >= 0);
  const gaps: string[] = [];
  const isSynced = (path: string, since: number): boolean =>
    before.some(
      (call) =>
        call.began > since &&
        call.ended < deadline &&
        (syncsOfAll.includes(call.name) || (syncs.includes(call.name) && fileOf(call)?.path === path)),
    );

  const isRemoved = (path: string, since: number): boolean =>
    before.some((call) => removals.includes(call.name) && call.began > since && lastPathOf(call) === path);

  const synchronous = new Set<number>();
  const writtenPaths = new Set<string>();
  for (const call of before) {
    const file = fileOf(call);
    if (opens.includes(call.name)) {
      if (/\bO_D?SYNC\b/.test(call.args)) synchronous.add(call.result);
      else synchronous.delete(call.result);
    }
    if (call.name === 'close' && file) synchronous.delete(file.number);
    if (file && dataWrites.includes(call.name) && counts(file.path)) {
      writtenPaths.add(file.path);
      const durable = synchronous.has(file.number) ? call.ended < deadline : isSynced(file.path, call.ended);
      if (!durable) gaps.push(`${call.name} to ${file.path} was not synced`);
    }
    for (const path of namesMade(call)) {
      if (!counts(path) || isRemoved(path, call.ended)) continue;
      if (!isSynced(dirname(path), call.ended)) gaps.push(`the name ${path} was made, but its directory not synced`);
    }
  }
  for (const pattern of written) {
    if (![...writtenPaths].some((path) => pattern.test(path))) gaps.push(`nothing matching ${pattern} was written`);
  }
  return [...new Set(gaps)];
}

/** Returns true for a call that makes something durable. A test may remove one to see that its absence is detected. */
export function isSync(call: SystemCall): boolean {
  return syncs.includes(call.name) || syncsOfAll.includes(call.name);
}

/** The file a call is given by number. */
export function fileOf(call: SystemCall): { number: number; path: string } | undefined {
  const [, number, path] = /^(\d+)<([^>]*)>/.exec(call.args) ?? [];
  return path === undefined ? undefined : { number: Number(number), path };
}

/** The paths that a call made. Opening with O_CREAT counts, whether or not the file was there already. */
function namesMade(call: SystemCall): string[] {
  if (opens.includes(call.name)) {
    return /\bO_CREAT\b/.test(call.args) || call.name === 'creat' ? [call.resultPath ?? ''].filter(Boolean) : [];
  }
  if (!names.includes(call.name)) return [];
  const made = lastPathOf(call);
  return made === undefined ? [] : [made];
}

/** The last path that a call is given, as an absolute one. */
function lastPathOf(call: SystemCall): string | undefined {
  const path = [...call.args.matchAll(/"((?:[^"\\]|\\.)*)"/g)].at(-1)?.[1];
  return path === undefined ? undefined : resolve(/AT_FDCWD<([^>]*)>/.exec(call.args)?.[1] ?? process.cwd(), path);
}

function isWithin(path: string, directory: string): boolean {
  return path.startsWith(`${directory}/`);
}
