import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

interface Import {
  readonly file: string;
  /** A path from the root, or the name of a package. */
  readonly target: string;
  readonly isPackage: boolean;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function importsOf(file: string): Import[] {
  const source = readFileSync(join(root, file), 'utf8');
  const found = [...source.matchAll(/(?:^|\n)(?:import|export)\s[^'";]*?from '([^']+)'|import\('([^']+)'\)/g)];
  return found.map((match) => {
    const name = (match[1] ?? match[2])!;
    const isPackage = !name.startsWith('.');
    return { file, isPackage, target: isPackage ? name : relative(root, resolve(root, dirname(file), name)) };
  });
}

const imports = ['shared', 'functions', 'infra'].flatMap(sourceFiles).flatMap(importsOf);

/** The folder a file lies in: the longest of these that it begins with. */
const folders = [
  'shared/errors',
  'shared/ports',
  'shared/http',
  'shared/xml',
  'shared/checksums',
  'shared/encryption',
  'shared/signing',
  'shared/access',
  'shared/metadata/accounts',
  'shared/metadata/lifecycle',
  'shared/metadata',
  'shared/protocol',
  'shared/adapters',
  'functions/runtime/compose',
  'functions/runtime/http',
  'functions/runtime/telemetry',
  'functions/runtime/command-line',
  'functions/runtime/cloud',
  'functions/runtime/local',
  'functions/runtime/cli',
  'functions/runtime/package',
  'functions/runtime',
  'functions/edge',
  'functions',
  'infra',
] as const;
type Folder = (typeof folders)[number];

const isOutermost = (folder: Folder): boolean => /^(shared\/adapters|functions\/runtime|infra)/.test(folder);
const folderOf = (file: string): Folder => folders.find((folder) => file.startsWith(`${folder}/`))!;

/** The folders that every folder of the runtime may import. */
const belowRuntime = folders.filter(
  (folder) => folder.startsWith('shared/') || ['functions', 'functions/edge', 'functions/runtime'].includes(folder),
);
/** The folders that both deployments share. */
const shared = [
  'functions/runtime/compose',
  'functions/runtime/http',
  'functions/runtime/telemetry',
  'functions/runtime/command-line',
] as const satisfies readonly Folder[];

/** Who may import whom. A folder may always import itself. */
const allowed: Readonly<Record<Folder, readonly Folder[]>> = {
  'shared/errors': [],
  'shared/ports': [],
  'shared/http': ['shared/errors'],
  // Of the metadata a type alone: the lifecycle rule, which is kept as it was sent.
  'shared/xml': ['shared/errors', 'shared/ports', 'shared/metadata/lifecycle'],
  'shared/checksums': ['shared/errors'],
  'shared/encryption': ['shared/errors', 'shared/ports'],
  'shared/signing': ['shared/errors', 'shared/ports', 'shared/http', 'shared/checksums'],
  'shared/access': ['shared/errors', 'shared/ports', 'shared/http', 'shared/checksums'],
  // The one part of the metadata that knows of users and their privileges.
  'shared/metadata/accounts': ['shared/ports', 'shared/access', 'shared/metadata'],
  'shared/metadata/lifecycle': ['shared/errors', 'shared/ports', 'shared/metadata'],
  'shared/metadata': ['shared/errors', 'shared/ports', 'shared/http', 'shared/checksums', 'shared/encryption'],
  'shared/protocol': [
    'shared/errors',
    'shared/ports',
    'shared/http',
    'shared/xml',
    'shared/checksums',
    'shared/encryption',
    'shared/signing',
    'shared/access',
    'shared/metadata/lifecycle',
    'shared/metadata',
  ],
  'shared/adapters': ['shared/ports'],
  functions: [
    'shared/errors',
    'shared/ports',
    'shared/http',
    'shared/xml',
    'shared/checksums',
    'shared/encryption',
    'shared/signing',
    'shared/access',
    'shared/metadata/accounts',
    'shared/metadata/lifecycle',
    'shared/metadata',
    'shared/protocol',
  ],
  // Errors of an operator, which all of the folders may report.
  'functions/runtime': [],
  'functions/runtime/http': [...belowRuntime],
  'functions/runtime/telemetry': [...belowRuntime],
  'functions/runtime/compose': [...belowRuntime],
  // Options and reports that several programs have.
  'functions/runtime/command-line': [...belowRuntime, 'functions/runtime/telemetry'],
  // One program each, of one machine and of the cloud: neither knows the other.
  'functions/runtime/local': [...belowRuntime, ...shared],
  'functions/runtime/cloud': [...belowRuntime, ...shared],
  'functions/runtime/cli': [...belowRuntime, ...shared, 'functions/runtime/local'],
  // The exports of the package: the service within a program, and kits for its tests.
  'functions/runtime/package': [...belowRuntime, ...shared, 'functions/runtime/local'],
  // The only imports of the router, whose size is limited.
  'functions/edge': ['shared/http', 'shared/protocol'],
  infra: ['shared/protocol', 'functions/edge'],
};

/** Every circle that a walk along the arrows closes. */
function circlesOf(arrows: readonly Pick<Import, 'file' | 'target'>[]): string[] {
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

describe('who may import whom', () => {
  it('is held by every import', () => {
    const broken = imports
      .filter(({ isPackage }) => !isPackage)
      .filter(({ target }) => folders.some((folder) => target.startsWith(`${folder}/`)))
      .filter(({ file, target }) => {
        const [from, to] = [folderOf(file), folderOf(target)];
        return from !== to && !allowed[from].includes(to);
      })
      .map(({ file, target }) => `${file} imports ${target}`);
    expect(broken).toEqual([]);
  });

  it('is of types alone between documents and the metadata', () => {
    const values = sourceFiles('shared/xml').filter((file) =>
      /^import (?!type )[^;]*metadata\//m.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(values).toEqual([]);
  });

  it('sees the imports it judges', () => {
    expect(imports.length).toBeGreaterThan(200);
    expect(imports).toContainEqual({
      file: 'shared/errors/s3-error.ts',
      target: 'shared/errors/table.ts',
      isPackage: false,
    });
  });

  it('goes in circles nowhere, not even for types', () => {
    expect(circlesOf(imports)).toEqual([]);
  });

  it('goes one way between the parts of a folder', () => {
    const partOf = (file: string): string => {
      const [, folder, part] = file.split('/');
      return `${folder}/${part}`;
    };
    const isInPart = (file: string): boolean => /^shared\/(metadata|protocol)\/[^/]+\//.test(file);
    const between = imports
      .filter(({ file, target }) => isInPart(file) && isInPart(target) && partOf(file) !== partOf(target))
      .map(({ file, target }) => ({ file: partOf(file), target: partOf(target) }));
    expect(between.length).toBeGreaterThan(20);
    expect(circlesOf(between)).toEqual([]);
    // Files directly in the folder are what the parts of the metadata depend on.
    const upwards = imports.filter(
      ({ file, target }) =>
        /^shared\/metadata\/[^/]+$/.test(file) && target.startsWith('shared/metadata/') && isInPart(target),
    );
    expect(upwards).toEqual([]);
  });

  it('lets operations not import one another', () => {
    const isOperation = (file: string): boolean => /^functions\/(service|bucket|object|multipart|website)\//.test(file);
    const broken = imports.filter(({ file, target }) => isOperation(file) && isOperation(target));
    expect(broken).toEqual([]);
  });

  it('keeps engines, file system and network inside adapters and runtime', () => {
    const outside = /^(node:(fs|net|http|https|tls|child_process|dns|worker_threads)|lmdb|@aws-sdk\/)/;
    const broken = imports
      .filter(({ isPackage, target }) => isPackage && outside.test(target))
      .filter(({ file }) => !isOutermost(folderOf(file)));
    expect(broken).toEqual([]);
  });
});

describe('a request that was authenticated', () => {
  it('is made by authentication alone, from the query that was signed', () => {
    const values = (name: string): string[] =>
      ['shared', 'functions']
        .flatMap(sourceFiles)
        .filter((file) => new RegExp(`import \\{[^}]*\\b${name}\\b`).test(readFileSync(join(root, file), 'utf8')));
    const authentication = 'shared/protocol/authentication';
    expect(values('AuthenticatedRequest').sort()).toEqual([
      `${authentication}/authenticate-v2.ts`,
      `${authentication}/authenticate.ts`,
    ]);
    expect(values('withHoisted').sort()).toEqual([
      `${authentication}/authenticated-request.ts`,
      'shared/signing/sigv2.ts',
    ]);
  });
});

describe('an authorisation', () => {
  const importersOf = (target: string): string[] =>
    [...new Set(imports.filter((each) => each.target === target).map(({ file }) => file))].sort();

  it('of a request is made by authorisation alone', () => {
    const folder = 'shared/protocol/authorisation';
    expect(importersOf(`${folder}/request-authorisation.ts`)).toEqual([`${folder}/request-authoriser.ts`]);
  });

  it('of the service itself is made where no request is answered', () => {
    const importers = importersOf('shared/metadata/objects/service-authorisation.ts');
    expect(importers.length).toBeGreaterThan(5);
    expect(importers.filter((file) => !/^(functions\/admin|shared\/metadata)\//.test(file))).toEqual([]);
  });

  it('is of no other kind', () => {
    const kinds = ['shared', 'functions'].flatMap(sourceFiles).flatMap((file) => {
      const source = readFileSync(join(root, file), 'utf8');
      return [...source.matchAll(/class (\w+) extends (?:Bucket|Object)?Authorisation\b/g)].map(([, name]) => name);
    });
    expect(kinds.sort()).toEqual([
      'BucketAuthorisation',
      'ObjectAuthorisation',
      'OperatorAuthorisation',
      'RequestAuthorisation',
      'ServiceAuthorisation',
    ]);
  });
});

describe('what is not a parameter', () => {
  const ambient = /\bprocess\.env\b|\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandom(Bytes|UUID)\b/;

  it('environment, clock and randomness are read only in runtime and adapters', () => {
    const broken = ['shared', 'functions']
      .flatMap(sourceFiles)
      .filter((file) => !isOutermost(folderOf(file)))
      .filter((file) => ambient.test(readFileSync(join(root, file), 'utf8')));
    expect(broken).toEqual([]);
  });
});

describe('keys of the table', () => {
  it('are built and read back in one folder', () => {
    // Building one, or taking one apart: by a template or a literal, or by cutting or comparing its text.
    const built = /\bpk: ?['`]|\bsk: ?['`]/;
    const parsed = /\b[ps]k\.(split|slice|indexOf|lastIndexOf|startsWith|replace|substring)\(/;
    const outside = sourceFiles('shared/metadata')
      .filter((file) => !file.startsWith('shared/metadata/table/'))
      .filter((file) => {
        const source = readFileSync(join(root, file), 'utf8');
        return built.test(source) || parsed.test(source);
      });
    expect(outside).toEqual([]);
  });
});

describe('optimistic writes', () => {
  it('are repeated by one loop', () => {
    const loops = sourceFiles('shared/metadata').filter((file) =>
      /for \(let (?:attempt|number) = 0; .*[aA]ttempts/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(loops.sort()).toEqual([
      // It measures until it is certain, and writes nothing.
      'shared/metadata/quotas/exact-quotas.ts',
      // It reads until two reads agree, and writes nothing.
      'shared/metadata/scrub/key-versions.ts',
      'shared/metadata/table/optimistic-write.ts',
    ]);
  });
});

describe('versions', () => {
  it('are removed in one place', () => {
    // A commit of the version chain that removes one, or a change that deletes the item of a current version.
    const removes = /\bchain(?:\([^)]*\))?\.remove\(|key: currentVersionKey\([^)]*\), delete: true/;
    const files = ['shared', 'functions']
      .flatMap(sourceFiles)
      .filter((file) => removes.test(readFileSync(join(root, file), 'utf8')));
    expect(files).toEqual(['shared/metadata/objects/remove-version.ts']);
  });
});

describe('types', () => {
  it('are never cast blindly', () => {
    const blind = ['shared', 'functions']
      .flatMap(sourceFiles)
      .filter((file) => readFileSync(join(root, file), 'utf8').includes('as unknown as'));
    expect(blind).toEqual([]);
  });
});

describe('names', () => {
  it('are kebab-case, and none says nothing', () => {
    const files = ['shared', 'functions', 'infra', 'test'].flatMap(sourceFiles);
    const vague = /(^|\/)(utils?|helpers?|common|misc|manager|service)(\.ts|\/)/;
    expect(files.filter((file) => !/^[a-z0-9/.-]+$/.test(file))).toEqual([]);
    expect(files.filter((file) => vague.test(file) && !file.startsWith('functions/service/'))).toEqual([]);
  });
});
