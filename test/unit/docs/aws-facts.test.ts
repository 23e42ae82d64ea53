import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const text = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The stand-ins for AWS outside the folders that contain nothing else. */
const standIns = [
  'bytes/rotating-stream',
  'cloud/edge-runtime',
  'cloud/engines',
  'cloud/lambda-sandbox',
  'cloud/log-insights',
  'cloud/moto',
  'storage/memory-table',
];
const files = [
  ...['test/cloud', 'test/infra', 'test/support/cloud/dynamodb'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  ),
  ...standIns.map((name) => `test/support/${name}.ts`),
  'test/linearizability/unreliable-aws.ts',
].filter((path) => path.endsWith('.ts'));

/** URLs of AWS documentation, and of public reports of the behaviour of AWS. */
const source = /https:\/\/(?:docs\.aws\.amazon\.com|repost\.aws|github\.com)\/[^\s)'"`,;]*[^\s)'"`,;:.]/g;
const sourcesOf = (of: string): string[] => [...new Set(of.match(source) ?? [])];

const [, section] = text('docs/cloud.md').split('\n## Assumptions about AWS\n');
const facts = section!.split('\n## ')[0]!;
const rows = facts.split('\n').filter((line) => /^\| (?!fact |---)/.test(line));

describe('the facts about AWS in docs/cloud.md', () => {
  it('have a source each, and what holds the service to them', () => {
    expect(rows.length).toBeGreaterThan(30);
    for (const row of rows) {
      const [, fact, sources, enforcedBy] = row.split(/ ?(?<!\\)\| ?/);
      expect(fact!.length, row).toBeGreaterThan(20);
      expect(sourcesOf(sources!), row).not.toEqual([]);
      const paths = [...enforcedBy!.matchAll(/`(test\/[\w/.-]+)`/g)].map(([, path]) => path!);
      expect(paths, row).not.toEqual([]);
      for (const path of paths) expect(existsSync(join(root, path)), path).toBe(true);
    }
  });

  it('are all that the stand-ins embody: each source that one names is there', () => {
    const listed = new Set(sourcesOf(facts).map((url) => url.split('#')[0]));
    const named = files.flatMap((path) => sourcesOf(text(path)).map((url) => ({ path, url: url.split('#')[0] })));
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter(({ url }) => !listed.has(url))).toEqual([]);
  });
});
