import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

interface Import {
  readonly file: string;
  /** A path from the root, or the name of a package. */
  readonly target: string;
  readonly isPackage: boolean;
}

/** The TypeScript files of a folder, as paths from the root. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

/** What a file imports and exports on, types as well. */
export function importsOf(file: string): Import[] {
  const source = readFileSync(join(root, file), 'utf8');
  const found = [...source.matchAll(/(?:^|\n)(?:import|export)\s[^'";]*?from '([^']+)'|import\('([^']+)'\)/g)];
  return found.map((match) => {
    const name = (match[1] ?? match[2])!;
    const isPackage = !name.startsWith('.');
    return { file, isPackage, target: isPackage ? name : relative(root, resolve(root, dirname(file), name)) };
  });
}

/** Every circle that a walk along the arrows closes. */
export function circlesOf(arrows: readonly Pick<Import, 'file' | 'target'>[]): string[] {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file) || path.includes(file)) return;
    for (const { target } of arrows.filter((each) => each.file === file)) visit(target, [...path, file]);
    done.add(file);
  };
  for (const { file } of arrows) visit(file, []);
  return circles;
}
