import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { OperatorError } from '../../../shared/errors/operator-error.ts';
import { consoleIndex } from '../../../shared/protocol/console/pages.ts';

/** A file in one content coding. */
interface Representation {
  /** The value of `Content-Encoding`; undefined: identity. */
  readonly coding: string | undefined;
  readonly bytes: Uint8Array;
  readonly etag: string;
}

/** A file of the console. */
export interface ConsoleFile {
  readonly type: string;
  /** The best coding first, identity last. */
  readonly representations: readonly Representation[];
}

/** The codings of precompressed files, the best first, with their file extensions. */
const codings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/**
 * The files of the console, listed at the start. A requested path is looked up in the list and never passed to the file system, so
 * that no path leads out of the folder.
 */
export class ConsoleFiles {
  readonly #folder: string;
  readonly #paths: ReadonlySet<string>;
  readonly #loaded = new Map<string, Promise<ConsoleFile>>();

  private constructor(folder: string, paths: ReadonlySet<string>) {
    this.#folder = folder;
    this.#paths = paths;
  }

  /**
   * Lists the files of a folder.
   * @param otherwise what else there is to do than to build it
   * @throws OperatorError if the folder is not a built console
   */
  static async list(folder: string, otherwise = ''): Promise<ConsoleFiles> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const paths = new Set(files.map((file) => `/${relative(folder, file).split(sep).join('/')}`));
    if (!paths.has(consoleIndex)) {
      throw new OperatorError(`it is not in ${folder}: build it with "node bin/build.mjs"${otherwise}`);
    }
    return new ConsoleFiles(folder, paths);
  }

  /** Returns a file, read on first use, or undefined. @param path as listed by {@link ConsoleFiles.list} */
  find(path: string): Promise<ConsoleFile> | undefined {
    if (!this.#paths.has(path) || codings.some(([, suffix]) => path.endsWith(suffix))) return undefined;
    const loading = this.#loaded.get(path) ?? this.#load(path);
    this.#loaded.set(path, loading);
    // A failed read is repeated with the next request.
    loading.catch(() => this.#loaded.delete(path));
    return loading;
  }

  async #load(path: string): Promise<ConsoleFile> {
    const built = codings.filter(([, suffix]) => this.#paths.has(path + suffix));
    const representations = await Promise.all([
      ...built.map(([coding, suffix]) => this.#read(path + suffix, coding)),
      this.#read(path, undefined),
    ]);
    return { type: types[extname(path)] ?? 'application/octet-stream', representations };
  }

  async #read(path: string, coding: string | undefined): Promise<Representation> {
    const bytes = await readFile(join(this.#folder, path));
    const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`;
    return { coding, bytes, etag };
  }
}
