import { describe, expect, it } from 'vitest';
import { Disk, type Choice } from './disk.ts';
import type { DiskEvent } from './record.ts';

/** Tests the simulated disk of these tests: the data that it keeps, and may lose. */

const last = (_: unknown, __: unknown, count: number): number => count - 1;
const newest: Choice = { data: last, name: last };
const synced: Choice = { data: () => 0, name: () => 0 };
const namesOnly: Choice = { ...synced, name: last };
const sizesOnly: Choice = { ...newest, data: (_, unit, count) => (unit < 0 ? count - 1 : 0) };

const create = (path: string, inode = path): DiskEvent => ({ type: 'create', path: `/${path}`, inode });
const mkdir = (path: string): DiskEvent => ({ type: 'mkdir', path: `/${path}`, inode: path });
let calls = 0;
const done = (begin: (call: string) => DiskEvent, result: number): DiskEvent[] => {
  const call = String((calls += 1));
  return [begin(call), { type: 'end', call, result }];
};
const write = (inode: string, offset: number, text: string, isSynchronous = false): DiskEvent[] =>
  done((call) => ({ type: 'write', call, inode, offset, isSynchronous, bytes: Buffer.from(text) }), text.length);
const truncate = (inode: string, size: number): DiskEvent[] =>
  done((call) => ({ type: 'truncate', call, inode, size }), 0);
const sync = (inode: string): DiskEvent[] => done((call) => ({ type: 'sync', call, inode }), 0);

function left(events: readonly DiskEvent[], choice: Choice): Record<string, string> {
  const disk = new Disk('', 'root');
  for (const event of events) disk.apply(event);
  const { files, directories } = disk.after(choice);
  const directoriesLeft = directories.map((path) => [path, '/'] as const);
  const filesLeft = files.map(({ path, file }) => [path, String(file.after(choice))] as const);
  return Object.fromEntries([...directoriesLeft, ...filesLeft]);
}

describe('the disk', () => {
  it('keeps what was synced, and may lose what was not', () => {
    const events = [create('a'), ...write('a', 0, 'one'), ...sync('a'), ...sync('root'), ...write('a', 0, 'two')];
    expect(left(events, synced)).toEqual({ a: 'one' });
    expect(left(events, newest)).toEqual({ a: 'two' });
  });

  it('may lose the name of a file that was synced', () => {
    const events = [create('a'), ...write('a', 0, 'one'), ...sync('a')];
    expect(left(events, synced)).toEqual({});
    expect(left(events, namesOnly)).toEqual({ a: 'one' });
  });

  it('may keep a size without the bytes', () => {
    const events = [create('a'), ...write('a', 0, 'one')];
    expect(left(events, sizesOnly)).toEqual({ a: '\0\0\0' });
    expect(left(events, namesOnly)).toEqual({ a: '' });
  });

  it('syncs what was written when the sync began, and nothing later', () => {
    const [begin, end] = sync('a') as [DiskEvent, DiskEvent];
    const events = [create('a'), ...sync('root'), ...write('a', 0, 'one'), begin, ...write('a', 0, 'two'), end];
    expect(left(events, synced)).toEqual({ a: 'one' });
  });

  it('does not sync a write that was in progress when the sync began', () => {
    const [begin, end] = write('a', 0, 'one') as [DiskEvent, DiskEvent];
    const events = [create('a'), ...sync('root'), begin, ...sync('a'), end];
    expect(left(events, synced)).toEqual({ a: '' });
  });

  it('syncs a write whose process was killed in it, if the file has it, and not before', () => {
    const [begin] = write('a', 0, 'one', true) as [DiskEvent];
    const killed: DiskEvent = { type: 'killed', call: (begin as { call: string }).call };
    const events = [create('a'), ...sync('root'), begin, killed];
    expect(left(events, synced)).toEqual({ a: '' });
    expect(left(events, newest)).toEqual({ a: 'one' });
    expect(left([...events, ...sync('a')], synced)).toEqual({ a: 'one' });
  });

  it('may write sectors in any order', () => {
    const [first, second] = ['1'.repeat(512), '2'.repeat(512)];
    const events = [create('a'), ...sync('root'), ...write('a', 0, first), ...write('a', 512, second)];
    const lastSector: Choice = { ...newest, data: (_, unit, count) => (unit === 0 ? 0 : count - 1) };
    expect(left(events, lastSector)).toEqual({ a: '\0'.repeat(512) + second });
  });

  it('may keep any content that a sector had since the last sync, and none from before', () => {
    const events = [create('a'), ...sync('root'), ...['0', '1'].flatMap((text) => write('a', 0, text)), ...sync('a')];
    events.push(...['2', '3'].flatMap((text) => write('a', 0, text)));
    const nth = (n: number): Choice => ({ ...synced, data: (_, unit) => (unit < 0 ? 0 : n) });
    expect([0, 1, 2].map((n) => left(events, nth(n))['a'])).toEqual(['1', '2', '3']);
  });

  it('makes a synchronous write durable, and no other', () => {
    const events = [create('a'), ...sync('root'), ...write('a', 0, 'x'.repeat(1024)), ...write('a', 0, 'one', true)];
    expect(left(events, synced)['a']).toEqual('one' + 'x'.repeat(509) + '\0'.repeat(512));
  });

  it('may cut a file or not, and fills it with zeros', () => {
    const events = [create('a'), ...write('a', 0, 'one'), ...sync('a'), ...sync('root'), ...truncate('a', 1)];
    events.push(...truncate('a', 2));
    expect(left(events, synced)).toEqual({ a: 'one' });
    expect(left(events, newest)).toEqual({ a: 'o\0' });
  });

  it('may lose what is in a directory with it, and bring removed and renamed files back', () => {
    const events = [mkdir('d'), create('d/a'), ...sync('d'), create('b'), ...sync('root')];
    const changed = [...events, { type: 'unlink', path: '/b' } as const];
    const renamed = [...events, { type: 'rename', from: '/d/a', path: '/c' } as const];
    expect(left(events.slice(0, 4), synced)).toEqual({});
    expect(left(changed, synced)).toEqual({ d: '/', 'd/a': '', b: '' });
    expect(left(changed, newest)).toEqual({ d: '/', 'd/a': '' });
    const never: Choice = { ...newest, name: (_, name, count) => (name === 'c' ? 0 : count - 1) };
    expect(left(renamed, never)).toEqual({ d: '/', b: '' });
    expect(left(renamed, newest)).toEqual({ d: '/', b: '', c: '' });
  });

  it('leaves out syncs on demand', () => {
    const disk = new Disk('', 'root', ({ how, path }) => how === 'sync' && path === 'a');
    for (const event of [create('a'), ...write('a', 0, 'one'), ...sync('a'), ...sync('root')]) disk.apply(event);
    expect(String(disk.after(synced).files[0]!.file.after(synced))).toBe('');
  });
});
