import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/*
 * What the program loads, by the files of its bundle: docs/adr/0095-code-is-loaded-on-demand.md. Sizes are bounds a little above what is measured, as an import in the
 * wrong place brings hundreds of kilobytes, which every start compiles.
 */

const dist = join(import.meta.dirname, '../../dist');

/** Returns the file of the bundle with what a command, or another module that is loaded on demand, has at its beginning. */
function fileOf(module: string): string {
  return readdirSync(dist).find((file) => new RegExp(`^stillage-${module}-[A-Z0-9]{8}\\.mjs$`).test(file))!;
}

interface Loaded {
  readonly bytes: number;
  /** The packages that are not bundled. */
  readonly packages: readonly string[];
  /** The modules that may be loaded later. */
  readonly onDemand: readonly string[];
}

/** Returns what is loaded with a file of the bundle before it runs: what it imports, directly or not. */
function loadedWith(file: string): Loaded {
  const files = new Map<string, string>();
  const packages = new Set<string>();
  const left = [file];
  for (let name = left.pop(); name !== undefined; name = left.pop()) {
    if (files.has(name)) continue;
    const text = readFileSync(join(dist, name), 'utf8');
    files.set(name, text);
    for (const [, path] of text.matchAll(/^(?:import|export)\s(?:[^'";()]*\sfrom\s*)?"([^"]+)";$/gm)) {
      if (path!.startsWith('./')) left.push(path!.slice(2));
      else if (!path!.startsWith('node:')) packages.add(path!);
    }
  }
  const texts = [...files.values()];
  const onDemand = texts.flatMap((text) => [...text.matchAll(/import\("\.\/stillage-(.+)-[A-Z0-9]{8}\.mjs"\)/g)]);
  return {
    bytes: texts.reduce((sum, { length }) => sum + length, 0),
    packages: [...packages].toSorted(),
    onDemand: [...new Set(onDemand.map(([, module]) => module!))].toSorted(),
  };
}

describe('the program loads', () => {
  it('neither the engine nor any command to print its version', () => {
    const { bytes, packages, onDemand } = loadedWith('stillage.mjs');
    expect(bytes).toBeLessThan(200_000);
    expect(packages).toEqual([]);
    expect(onDemand.length).toBeGreaterThan(25);
  });

  it('no command to print its help', () => {
    const { bytes, packages } = loadedWith(fileOf('settings'));
    expect(bytes).toBeLessThan(400_000);
    expect(packages).toEqual([]);
  });

  it.each(readdirSync(join(import.meta.dirname, '../../local/cli/commands')))('no SDK with %s', (source) => {
    if (/^(?:families|run-monitoring|bucket-audit|bucket-locks)/.test(source)) return;
    expect(loadedWith(fileOf(source.replace('.ts', ''))).packages).toEqual([]);
  });

  it('no service for a command that administers a data directory', () => {
    const { bytes, packages } = loadedWith(fileOf('user'));
    expect(bytes).toBeLessThan(970_000);
    expect(packages).toEqual([]);
  });

  it('all that a service needs before it answers, as an update may replace the files of one that runs', () => {
    const { bytes, onDemand } = loadedWith(fileOf('start'));
    expect(bytes).toBeLessThan(2_050_000);
    // Each by the options of a service while it starts.
    expect(onDemand).toEqual(['accounts-file', 'admin-server', 'administration-commands', 'shared-stores']);
  });
});
