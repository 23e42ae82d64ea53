import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allStartOptions } from '../../shared/command-line/option.ts';
import { defaultOptions } from '../../shared/command-line/start-options.ts';

const root = join(import.meta.dirname, '../..');
const named = (text: string): readonly string[] => [...text.matchAll(/\bSTILLAGE_[A-Z_]+/g)].map(([name]) => name);

describe.each(['compose.yaml', 'docs/recipes/stillage.service'])('%s', (file) => {
  it('names variables that the service reads', async () => {
    const known = new Set([
      ...allStartOptions().map(({ envVar }) => envVar),
      'STILLAGE_ACCESS_KEY',
      'STILLAGE_SECRET_KEY',
    ]);
    const names = named(await readFile(join(root, file), 'utf8'));
    expect(names.length).toBeGreaterThan(1);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('compose.yaml', () => {
  it('publishes the ports of the service and of its console to this machine only', async () => {
    const text = await readFile(join(root, 'compose.yaml'), 'utf8');
    const ports = [...text.matchAll(/^ {6}- '(.*)'$/gm)].map((match) => match[1]!);
    const expected = [defaultOptions.port, defaultOptions.consolePort];
    expect(ports).toEqual(expected.map((port) => `127.0.0.1:${port}:${port}`));
  });
});
