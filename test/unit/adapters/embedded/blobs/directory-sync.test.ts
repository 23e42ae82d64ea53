import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DirectorySync } from '../../../../../shared/adapters/embedded/blobs/directory-sync.ts';

/** Syncs that the test ends. */
function controlled(): { directories: DirectorySync; running: { path: string; end: (error?: Error) => void }[] } {
  const running: { path: string; end: (error?: Error) => void }[] = [];
  const directories = new DirectorySync(
    (path) =>
      new Promise((resolve, reject) => {
        running.push({ path, end: (error) => (error ? reject(error) : resolve()) });
      }),
  );
  return { directories, running };
}

/** Notes in a list who was served. */
function serve(list: string[], name: string, sync: Promise<void>): void {
  sync.then(
    () => list.push(name),
    (error: Error) => list.push(`${name}: ${error.message}`),
  );
}

describe('DirectorySync', () => {
  it('serves all who come during a sync with one more, and none of them with the running one', async () => {
    const { directories, running } = controlled();
    const served: string[] = [];
    for (const name of ['a', 'b', 'c', 'd']) serve(served, name, directories.sync('/x'));
    expect(running).toHaveLength(1);
    running[0]!.end();
    await turnOfEventLoop();
    expect(served).toEqual(['a']);
    expect(running).toHaveLength(2);
    serve(served, 'e', directories.sync('/x'));
    running[1]!.end();
    await turnOfEventLoop();
    expect(served).toEqual(['a', 'b', 'c', 'd']);
    running[2]!.end();
    await turnOfEventLoop();
    expect(served).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(running).toHaveLength(3);
  });

  it('syncs different directories at the same time', () => {
    const { directories, running } = controlled();
    void directories.sync('/x');
    void directories.sync('/y');
    expect(running.map(({ path }) => path)).toEqual(['/x', '/y']);
  });

  it('tells a failure also to those who came before it, whose entries it may have lost, and to nobody later', async () => {
    const { directories, running } = controlled();
    const served: string[] = [];
    for (const name of ['a', 'b', 'c']) serve(served, name, directories.sync('/x'));
    running[0]!.end(new Error('no'));
    await turnOfEventLoop();
    expect(served).toEqual(['a: no', 'b: no', 'c: no']);
    for (const name of ['d', 'e']) serve(served, name, directories.sync('/x'));
    running[1]!.end();
    await turnOfEventLoop();
    running[2]!.end();
    await turnOfEventLoop();
    expect(served.slice(3)).toEqual(['d', 'e']);
    expect(running).toHaveLength(3);
  });
});
