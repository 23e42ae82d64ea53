import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The console is a client: it imports nothing from the service, and its folders depend on one another in one direction. */

const root = join(import.meta.dirname, '../..');

const allowed: Readonly<Record<string, readonly string[]>> = {
  s3: [],
  format: ['s3'],
  messages: ['format'],
  session: ['s3'],
  transfers: ['s3', 'session', 'format'],
  ui: ['messages', 'format', 's3'],
  panels: ['messages', 'format', 's3', 'session', 'transfers', 'ui'],
  pages: ['messages', 'format', 's3', 'session', 'transfers', 'ui', 'panels'],
  app: ['messages', 'format', 's3', 'session', 'transfers', 'ui', 'panels', 'pages'],
  preview: [],
  worker: [],
};

interface Import {
  readonly file: string;
  readonly target: string;
  readonly isPackage: boolean;
}

const files = readdirSync(join(root, 'console'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)));

const imports = files.flatMap((file): Import[] => {
  const source = readFileSync(join(root, file), 'utf8');
  const found = [...source.matchAll(/(?:^|\n)(?:import|export)\s[^'";]*?from '([^']+)'|import\('([^']+)'\)/g)];
  return found.map((match) => {
    const name = (match[1] ?? match[2])!;
    const isPackage = !name.startsWith('.');
    return { file, isPackage, target: isPackage ? name : relative(root, resolve(root, dirname(file), name)) };
  });
});

const folderOf = (file: string): string => file.split('/')[1]!;
const isInFolder = (file: string): boolean => file.split('/').length > 2;

describe('the console', () => {
  it('imports nothing of the service', () => {
    expect(imports.length).toBeGreaterThan(150);
    const outside = imports.filter(({ isPackage, target }) => !isPackage && !target.startsWith('console/'));
    expect(outside).toEqual([]);
    const packages = new Set(imports.filter(({ isPackage }) => isPackage).map(({ target }) => target));
    expect([...packages].sort()).toEqual([
      '@noble/hashes/hmac.js',
      '@noble/hashes/sha2.js',
      '@preact/signals',
      'client-zip',
      'pdfjs-dist/legacy/build/pdf.mjs',
      'preact',
      'preact/hooks',
    ]);
  });

  it('has folders that import in one direction', () => {
    const broken = imports
      .filter(({ isPackage, file, target }) => !isPackage && isInFolder(file) && isInFolder(target))
      .filter(
        ({ file, target }) =>
          folderOf(file) !== folderOf(target) && !allowed[folderOf(file)]?.includes(folderOf(target)),
      )
      .map(({ file, target }) => `${file} imports ${target}`);
    expect(broken).toEqual([]);
  });

  it('has pages that do not import one another', () => {
    const pageOf = (file: string): string => file.split('/')[2]!;
    const broken = imports
      .filter(({ file, target }) => folderOf(file) === 'pages' && target.startsWith('console/pages/'))
      .filter(({ file, target }) => pageOf(file) !== pageOf(target));
    expect(broken).toEqual([]);
  });

  it('never makes text into markup, and keeps nothing secret where it can be read', () => {
    const sink = /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/;
    expect(files.filter((file) => sink.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
    const storage = files.filter((file) =>
      /localStorage|sessionStorage|document\.cookie/.test(readFileSync(join(root, file), 'utf8')),
    );
    // The language, and the names of favourite buckets.
    expect(storage.sort()).toEqual(['console/messages/messages.ts', 'console/session/buckets.ts']);
  });
});
