import type { Template } from 'aws-cdk-lib/assertions';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import { resources } from '../infra/synthesis.ts';

/** A file in a bucket. */
export interface BucketFile {
  readonly bytes: Buffer;
  readonly type: string;
  readonly cacheControl: string;
}

/** The files of assets, by the names of their archives and by their paths. */
export type Assets = ReadonlyMap<string, ReadonlyMap<string, Buffer>>;

/** Reads the assets of a cloud assembly that a template's bucket deployments copy. */
export async function readAssets(assembly: string, template: Template): Promise<Assets> {
  const archives = new Set(deploymentsOf(template).flatMap(({ SourceObjectKeys }) => SourceObjectKeys));
  const read = [...archives].map(async (archive) => {
    const folder = join(assembly, `asset.${archive.replace(/\.zip$/, '')}`);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const files = paths.map(async (path) => [relative(folder, path), await readFile(path)] as const);
    return [archive, new Map(await Promise.all(files))] as const;
  });
  return new Map(await Promise.all(read));
}

/**
 * Returns the files in the bucket after a template's bucket deployments, by key. They run `aws s3 sync` or `cp` with the filters, of which
 * the last match counts:
 * https://docs.aws.amazon.com/cli/latest/reference/s3/#use-of-exclude-and-include-filters
 */
export function deployedFiles(
  template: Template,
  assets: Assets,
  textOf: (value: unknown) => string,
): ReadonlyMap<string, BucketFile> {
  const files = new Map<string, BucketFile>();
  for (const { SourceObjectKeys, SourceMarkers = [], Exclude = [], Include = [], SystemMetadata } of deploymentsOf(
    template,
  )) {
    for (const [index, archive] of SourceObjectKeys.entries()) {
      for (const [path, bytes] of assets.get(archive)!) {
        const isExcluded = Exclude.some((pattern) => matches(pattern, path));
        if (isExcluded && !Include.some((pattern) => matches(pattern, path))) continue;
        const markers = Object.entries(SourceMarkers[index] ?? {});
        const marked = markers.reduce(
          (text, [marker, value]) => text.replaceAll(marker, textOf(value)),
          `${bytes.toString('latin1')}`,
        );
        files.set(path, {
          bytes: markers.length === 0 ? bytes : Buffer.from(marked, 'latin1'),
          type: types[extname(path)] ?? 'binary/octet-stream',
          cacheControl: SystemMetadata['cache-control'] ?? '',
        });
      }
    }
  }
  return files;
}

/** The types that the AWS CLI guesses with Python's `mimetypes`. */
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
};

interface BucketDeployment {
  readonly SourceObjectKeys: readonly string[];
  readonly SourceMarkers?: readonly Readonly<Record<string, unknown>>[];
  readonly Exclude?: readonly string[];
  readonly Include?: readonly string[];
  readonly SystemMetadata: Readonly<Record<string, string>>;
}

/** In an order in which those that depend on others come after them. */
function deploymentsOf(template: Template): readonly BucketDeployment[] {
  const found = resources(template, 'Custom::CDKBucketDeployment');
  const isLater = (resource: object): number => ('DependsOn' in resource ? 1 : 0);
  return found
    .toSorted(([, a], [, b]) => isLater(a) - isLater(b))
    .map(([, { Properties }]) => Properties as unknown as BucketDeployment);
}

/** Matches as Python's `fnmatch` does, as far as these patterns need it: `*` is anything, slashes too. */
function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(path);
}
