import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { run } from './programs.ts';

/** The package as npm packs it. */
export interface PackedPackage {
  /** A copy of this clone, without its node_modules, in which the package was built and packed. */
  readonly clone: string;
  readonly archive: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** The key under which test files get the {@link PackedPackage}. */
    packedPackage: string;
  }
}

const root = join(import.meta.dirname, '../../..');

/** Packs the package once, when the first test file asks for it, and removes it after the last file. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let folder: string | undefined;
  let packed: Promise<PackedPackage> | undefined;
  const pack = async (): Promise<PackedPackage> => packPackage((folder = await mkdtemp(join(tmpdir(), 'packed-'))));
  const server = createServer((_, response) => {
    (packed ??= pack()).then(
      (found) => response.end(JSON.stringify(found)),
      (error: Error) => response.writeHead(500).end(error.stack),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('packedPackage', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.closeAllConnections();
    server.close();
    await packed?.catch(() => undefined);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
}

async function packPackage(folder: string): Promise<PackedPackage> {
  const clone = join(folder, 'clone');
  const isLeftOut = /^\/(?:node_modules|\.git|coverage|dist\/package)(?:$|\/)/;
  await cp(root, clone, { recursive: true, filter: (path) => !isLeftOut.test(path.slice(root.length)) });
  // In a separate process, as it keeps one busy.
  const build = "import('./bin/build.mjs').then(({ buildPackage }) => buildPackage(process.argv[1]))";
  await run(process.execPath, ['--eval', build, clone], { cwd: root });
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: clone,
  });
  return { clone, archive: join(folder, stdout.trim()) };
}
