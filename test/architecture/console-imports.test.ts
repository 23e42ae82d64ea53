import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { circlesOf, importsOf, root, sourceFiles } from './source-imports.ts';

/**
 * The console is a client: of the service it imports only the documents of the API, and its folders depend on one
 * another in one direction.
 */

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
  operators: ['messages', 'format', 's3', 'session', 'ui'],
  preview: [],
  worker: [],
};

const files = sourceFiles('console');
const imports = files.flatMap(importsOf);

const folderOf = (file: string): string => file.split('/')[1]!;
const isInFolder = (file: string): boolean => file.split('/').length > 2;

describe('the console', () => {
  it('imports nothing of the service but documents', () => {
    expect(imports.length).toBeGreaterThan(150);
    const outside = imports.filter(
      ({ isPackage, target }) => !isPackage && !/^(console|shared\/documents)\//.test(target),
    );
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

  it('gets documents that need nothing of Node.js', () => {
    const isType = /^import type .*/gm;
    const reached = new Set<string>();
    const visit = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      const source = readFileSync(join(root, file), 'utf8');
      const types = new Set([...source.matchAll(isType)].map(([line]) => /'([^']+)'/.exec(line)?.[1]));
      expect(source, file).not.toMatch(/\b(?:Buffer|process|require)\b[.(]/);
      for (const { target, isPackage } of importsOf(file)) {
        if ([...types].some((type) => type !== undefined && join(file, '..', type) === target)) continue;
        expect(isPackage ? [file, target] : [], file).toEqual([]);
        visit(target);
      }
    };
    for (const file of sourceFiles('shared/documents')) visit(file);
    expect([...reached].filter((file) => !file.startsWith('shared/documents/')).sort()).toEqual([
      'shared/http/fields/dates.ts',
      'shared/ports/durations.ts',
      'shared/ports/utf8-order.ts',
    ]);
  });

  it('has folders that import in one direction', () => {
    const broken = imports
      .filter(({ isPackage, file, target }) => !isPackage && isInFolder(file) && isInFolder(target))
      .filter(({ target }) => target.startsWith('console/'))
      .filter(
        ({ file, target }) =>
          folderOf(file) !== folderOf(target) && !allowed[folderOf(file)]?.includes(folderOf(target)),
      )
      .map(({ file, target }) => `${file} imports ${target}`);
    expect(broken).toEqual([]);
  });

  it('has imports that go in circles nowhere, not even for types', () => {
    expect(circlesOf(imports)).toEqual([]);
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
    expect(storage.sort()).toEqual(['console/messages/messages.ts', 'console/session/known-buckets.ts']);
  });
});
