import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const pages = [
  'console/README.md',
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const text = (page: string): string => readFileSync(join(root, page), 'utf8');
const readme = text('README.md');

describe.each(pages)('%s', (page) => {
  it('links to files and headings that are there', () => {
    const links = [...text(page).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map((match) => match[1]!);
    const broken = links.filter((link) => {
      const [path, heading] = link.split('#') as [string, string?];
      const target = path === '' ? page : relative(root, join(root, dirname(page), path));
      if (!existsSync(join(root, target))) return true;
      return heading !== undefined && !headings(target).includes(heading);
    });
    expect(broken).toEqual([]);
  });

  it('names files of the repository by paths that are there', () => {
    const named = [...text(page).matchAll(/`((?:shared|functions|infra|test|bin|docs)\/[\w./-]+)`/g)];
    expect(named.map((match) => match[1]!).filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('has tables that are shown as tables: every row has as many cells as the head', () => {
    const prose = text(page).replace(/^(```|~~~)[^]*?^\1/gm, '');
    const tables = prose.match(/(?:^\|.*\n?)+/gm) ?? [];
    const broken = tables.flatMap((table) => {
      const [head, line, ...rows] = table.trimEnd().split('\n');
      if (line === undefined || !/^(?:\| ?:?-+:? ?)+\|$/.test(line)) return [head];
      return [line, ...rows].filter((row) => cells(row) !== cells(head!));
    });
    expect(broken).toEqual([]);
  });
});

/** The number of cells of a row. A bar in code divides cells as well, unless it is escaped. */
function cells(row: string): number {
  return row.replaceAll('\\|', '').split('|').length - 2;
}

/** The anchors of a page, as they are made of its headings. */
function headings(page: string): string[] {
  return [...text(page).matchAll(/^#+ (.*)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
}

describe('the decisions', () => {
  const decisions = pages.filter((page) => page.startsWith('docs/adr/'));
  const numbers = decisions.map((page) => Number(/\d{4}/.exec(page)![0]));

  it('have a number each, one after the other', () => {
    expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_, at) => at + 1));
  });

  it('begin with their number', () => {
    expect(decisions.map((page) => Number(/^# (\d+)\. /.exec(text(page))?.[1]))).toEqual(numbers);
  });
});

describe('docs/configuration.md', () => {
  const configuration = text('docs/configuration.md');
  const { stdout } = spawnSync(process.execPath, ['bin/stillage.cjs', 'start', '--help'], {
    cwd: root,
    encoding: 'utf8',
  });
  const help = stdout.replace(/\s+/g, ' ');

  it('has every option of `stillage start`, with its environment variable', () => {
    const options = [...help.matchAll(/(--[a-z][a-z-]*) <[^>]+> .*?env: (STILLAGE_\w+)/g)];
    expect(options.length).toBeGreaterThan(10);
    for (const [, option, variable] of options)
      expect(configuration).toMatch(new RegExp(`\\| \`${option}[^|]*\\| \`${variable}\``));
  });

  it('has no option and no limit that is not one', () => {
    const named = [...configuration.matchAll(/^\| `(--[a-z-]+|[a-z][A-Za-z]+)[ `]/gm)].map((match) => match[1]!);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !help.includes(name))).toEqual([]);
  });
});

describe('README.md', () => {
  it('begins with the two commands', () => {
    const firstScreen = readme.split('\n').slice(0, 40).join('\n');
    expect(firstScreen).toContain('npm ci && npm start');
    expect(firstScreen).toContain('npm ci && npm test');
  });

  it('links to every page of docs', () => {
    const guides = pages.filter((page) => /^docs\/[^/]+\.md$/.test(page));
    expect(guides.length).toBeGreaterThan(20);
    expect(guides.filter((page) => !readme.includes(`](${page})`))).toEqual([]);
  });

  it('is at most 150 lines', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });
});
