import { Directory, File, type Call } from './nodes.ts';
import type { DiskEvent } from './record.ts';

/** Chooses the remains of unsynced data after a power cut: one of the possible values of each page, size and name. */
export interface Choice {
  /**
   * Chooses the content of a unit of a file, or the size of a file: one of `count` values, oldest first, of which the first is synced and
   * the last is the one that programs read. `unit` is the sector, or -1 for the size.
   */
  data(file: File, unit: number, count: number): number;
  /** Chooses in the same way to which file a name leads. */
  name(directory: Directory, name: string, count: number): number;
}

/** A way in which something becomes durable. */
export interface Sync {
  readonly how: 'sync' | 'synchronous write';
  /** The path that the file or directory was created with, relative to the root; empty for the root itself. */
  readonly path: string;
}

/** The files and directories that a cut leaves, by their paths. */
export interface Remains {
  readonly directories: readonly string[];
  readonly files: readonly { readonly path: string; readonly file: File }[];
}

/**
 * A disk that keeps what was synced, and may keep, drop, tear or reorder everything else, as far as POSIX allows:
 *
 * - A sync makes durable what had been written to the file when it began. Of later writes, each sector of 512 bytes may be there or
 *   not, with any of the contents that it had since.
 * - A size is durable with the data. A size that is not synced may be there without the data: the bytes are zero then.
 * - A name is durable once its directory is synced, whether or not the file is. A name that was made, changed or removed since may be there
 *   or not, independently of all others. A link under another name is another name.
 * - A synchronous write makes the sectors that it touches durable, and nothing else.
 */
export class Disk {
  readonly #root: string;
  readonly #directory: Directory;
  readonly #ignores: (sync: Sync) => boolean;
  readonly #nodes = new Map<string, File | Directory>();
  readonly #calls = new Map<string, Call & { readonly end: (call: Call, result: number) => void }>();
  #now = 0;

  /**
   * @param root the path of the recorded directory, which is empty at first
   * @param inode its inode
   * @param ignores whether to treat a sync as if it had not been made
   */
  constructor(root: string, inode: string, ignores: (sync: Sync) => boolean = () => false) {
    this.#root = root;
    this.#ignores = ignores;
    this.#directory = new Directory('');
    this.#nodes.set(inode, this.#directory);
  }

  apply(event: DiskEvent): void {
    this.#now += 1;
    switch (event.type) {
      case 'create':
      case 'mkdir': {
        const path = this.#relative(event.path);
        const node = event.type === 'create' ? new File(path) : new Directory(path);
        this.#nodes.set(event.inode, node);
        this.#name(event.path, node);
        return;
      }
      case 'link':
        return this.#name(event.path, this.#find(event.from));
      case 'rename':
        this.#name(event.path, this.#find(event.from));
        return this.#name(event.from, undefined);
      case 'unlink':
      case 'rmdir':
        return this.#name(event.path, undefined);
      case 'write': {
        const file = this.#file(event.inode);
        const { offset, bytes, isSynchronous } = event;
        const call = this.#begin(event.call, (ended, result) => {
          if (result !== bytes.length) throw new Error(`a write to ${file.path} ended with ${result}`);
          if (!isSynchronous || this.#ignores({ how: 'synchronous write', path: file.path })) return;
          file.sync(ended.ended + 1, offset, offset + bytes.length);
        });
        return file.write(call, offset, bytes);
      }
      case 'truncate': {
        const file = this.#file(event.inode);
        return file.truncate(this.#begin(event.call, expectZero), event.size);
      }
      case 'sync': {
        const node = this.#nodes.get(event.inode);
        if (node === undefined) return;
        this.#begin(event.call, ({ began }, result) => {
          expectZero(undefined, result);
          if (!this.#ignores({ how: 'sync', path: node.path })) node.sync(began);
        });
        return;
      }
      case 'end': {
        const call = this.#calls.get(event.call);
        if (call === undefined) return;
        this.#calls.delete(event.call);
        call.ended = this.#now;
        call.end(call, event.result);
        return;
      }
      case 'killed': {
        const call = this.#calls.get(event.call);
        this.#calls.delete(event.call);
        if (call) call.ended = this.#now;
        return;
      }
      case 'answer':
        return;
    }
  }

  /** Returns the files and directories after a cut. {@link File.after} determines their contents. */
  after(choice: Choice): Remains {
    const remains = { directories: [] as string[], files: [] as { path: string; file: File }[] };
    const visit = (directory: Directory, path: string): void => {
      for (const [name, node] of directory.after(choice)) {
        const below = path === '' ? name : `${path}/${name}`;
        if (node instanceof File) remains.files.push({ path: below, file: node });
        else {
          remains.directories.push(below);
          visit(node, below);
        }
      }
    };
    visit(this.#directory, '');
    return remains;
  }

  #begin(id: string, end: (call: Call, result: number) => void): Call {
    const call = { began: this.#now, ended: Infinity, end };
    this.#calls.set(id, call);
    return call;
  }

  #file(inode: string): File {
    const node = this.#nodes.get(inode);
    if (!(node instanceof File)) throw new Error(`a file was written that was not there: ${inode}`);
    return node;
  }

  #name(path: string, node: File | Directory | undefined): void {
    const [directory, name] = this.#place(path);
    directory.set(name, node, this.#now);
  }

  #find(path: string): File | Directory {
    const [directory, name] = this.#place(path);
    const found = directory.get(name);
    if (found === undefined) throw new Error(`there is no ${path}`);
    return found;
  }

  #place(path: string): [Directory, string] {
    const names = this.#relative(path).split('/');
    const last = names.pop()!;
    let directory = this.#directory;
    for (const name of names) {
      const next = directory.get(name);
      if (!(next instanceof Directory)) throw new Error(`there is no directory of ${path}`);
      directory = next;
    }
    return [directory, last];
  }

  #relative(path: string): string {
    return path.slice(this.#root.length + 1);
  }
}

function expectZero(_call: unknown, result: number): void {
  if (result !== 0) throw new Error(`a call ended with ${result}`);
}
