import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { choiceOf, type Loss } from './cuts.ts';
import { Disk } from './disk.ts';
import type { Recording } from './recording.ts';

/** Expects that the record has all that happened: played back, it is the directory as it is. */
export async function expectWhole({ events, root, rootInode }: Recording): Promise<void> {
  const disk = new Disk(root, rootInode);
  for (const event of events) disk.apply(event);
  const all = choiceOf({ at: events.length, severity: 'everything', seed: 0 });
  const { files, directories } = disk.after(all);
  const played = new Map(files.map(({ path, file }) => [path, file.after(all)]));
  const there = await readdir(root, { recursive: true, withFileTypes: true });
  const isKept = (path: string): boolean => !/\/lock\.mdb$|\.sock$/.test(path);
  const paths = there.map((entry) => ({ entry, path: join(entry.parentPath, entry.name).slice(root.length + 1) }));
  const names = paths.map(({ path }) => path).filter(isKept);
  expect([...played.keys(), ...directories].filter(isKept).sort()).toEqual(names.sort());
  for (const { entry, path } of paths) {
    if (!entry.isFile() || !isKept(path)) continue;
    expect((await readFile(join(root, path))).equals(played.get(path)!), path).toBe(true);
  }
}

/** Returns the description of losses. */
export function told(losses: readonly Loss[]): string {
  return losses.map(({ cut, what }) => `${JSON.stringify(cut)}:\n${what}`).join('\n\n');
}
