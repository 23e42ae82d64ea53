import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BackupTarget, TargetFile } from '../../shared/ports/backup-target.ts';

/** A new target for each test. */
export interface OpenBackupTarget {
  readonly target: BackupTarget;
  close(): Promise<void>;
}

/** The contract of {@link BackupTarget}. */
export function describeBackupTarget(name: string, open: () => Promise<OpenBackupTarget>): void {
  describe(`${name} as a target of backups`, () => {
    let opened: OpenBackupTarget;
    let target: BackupTarget;
    beforeEach(async () => {
      opened = await open();
      ({ target } = opened);
    });
    afterEach(() => opened.close());

    async function listed(prefix: string): Promise<TargetFile[]> {
      const files: TargetFile[] = [];
      for await (const file of target.list(prefix)) files.push(file);
      return files.sort((one, other) => (one.name < other.name ? -1 : 1));
    }

    it('gives back what was put, and replaces it', async () => {
      const bytes = Buffer.alloc(3_000_000, 'bytes ');
      expect(await target.put('packs/ab/abc', bytes)).toBe(true);
      expect(Buffer.from((await target.get('packs/ab/abc'))!).equals(bytes)).toBe(true);
      expect(await target.put('packs/ab/abc', Buffer.alloc(0))).toBe(true);
      expect(await target.get('packs/ab/abc')).toHaveLength(0);
    });

    it('leaves alone what is there, if asked to', async () => {
      const outcomes = await Promise.all(
        ['one', 'two', 'three'].map((text) => target.put('key', Buffer.from(text), { ifAbsent: true })),
      );
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const winner = ['one', 'two', 'three'][outcomes.indexOf(true)];
      expect(Buffer.from((await target.get('key'))!).toString()).toBe(winner);
    });

    it('has nothing that was not put', async () => {
      expect(await target.get('missing')).toBeUndefined();
      expect(await target.get('missing/below')).toBeUndefined();
      expect(await listed('missing/')).toEqual([]);
      expect(await listed('')).toEqual([]);
    });

    it('lists files with their sizes and times, below a prefix', async () => {
      const before = Date.now();
      for (const name of ['a/1', 'a/b/2', 'ab', 'c']) await target.put(name, Buffer.from(name));
      expect((await listed('a/')).map(({ name, size }) => [name, size])).toEqual([
        ['a/1', 3],
        ['a/b/2', 5],
      ]);
      const all = await listed('');
      expect(all.map(({ name }) => name)).toEqual(['a/1', 'a/b/2', 'ab', 'c']);
      for (const { writtenAt } of all) expect(Math.abs(writtenAt - before)).toBeLessThan(60_000);
    });

    it('lists more files than a page', async () => {
      const names = Array.from({ length: 1100 }, (_, at) => `many/${String(at).padStart(4, '0')}`);
      for (let at = 0; at < names.length; at += 20) {
        await Promise.all(names.slice(at, at + 20).map((name) => target.put(name, Buffer.from('x'))));
      }
      expect((await listed('many/')).map(({ name }) => name)).toEqual(names);
      await target.remove(names);
      expect(await listed('many/')).toEqual([]);
    });

    it('removes files, and ignores those that are gone', async () => {
      await target.put('a/1', Buffer.from('1'));
      await target.put('a/2', Buffer.from('2'));
      await target.remove(['a/1', 'a/missing']);
      await target.remove([]);
      expect((await listed('a/')).map(({ name }) => name)).toEqual(['a/2']);
    });
  });
}
