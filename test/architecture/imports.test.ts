import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sources } from '../../bin/roots.mjs';
import { circlesOf, importsOf, root, sourceFiles } from './source-imports.ts';

/** The folders of programs, and of what they share. */
const programs = [...sources, 'infra'];

const imports = programs.flatMap(sourceFiles).flatMap(importsOf);

/** The folder a file lies in: the first of these that it begins with. */
const folders = [
  'shared/errors',
  'shared/ports',
  'shared/http',
  'shared/documents',
  'shared/xml',
  'shared/checksums',
  'shared/encryption',
  'shared/signing',
  'shared/access',
  'shared/storage',
  'shared/accounts',
  'shared/audit',
  'shared/lifecycle',
  'shared/billing',
  'shared/monitoring',
  'shared/scrub',
  'shared/backup',
  'shared/events',
  'shared/protocol',
  'shared/telemetry',
  'shared/adapters',
  'shared/node-http',
  'shared/command-line',
  'local/server',
  'local/cli',
  'local/package',
  'functions/compose',
  'functions/admin',
  'functions/cloud/edge',
  'functions/cloud',
  'functions',
  'infra',
] as const;
type Folder = (typeof folders)[number];

/** Programs, and adapters: they alone may use the environment, the clock, randomness, disks and networks. */
const isOutermost = (folder: Folder): boolean =>
  /^(shared\/(adapters|telemetry|node-http|command-line)|local|functions\/cloud|infra)/.test(folder);
const folderOf = (file: string): Folder => folders.find((folder) => file.startsWith(`${folder}/`))!;

/** The rooms of what the table holds, above those of buckets and objects. */
const rooms = [
  'shared/accounts',
  'shared/audit',
  'shared/lifecycle',
  'shared/billing',
  'shared/monitoring',
  'shared/scrub',
  'shared/events',
] as const;
const belowProtocol = [
  'shared/errors',
  'shared/ports',
  'shared/http',
  'shared/documents',
  'shared/xml',
  'shared/checksums',
  'shared/encryption',
  'shared/signing',
  'shared/access',
  'shared/storage',
  ...rooms,
] as const satisfies readonly Folder[];
const belowPrograms = [
  ...belowProtocol,
  'shared/protocol',
  'shared/backup',
  'shared/telemetry',
  'shared/adapters',
  'shared/node-http',
  'shared/command-line',
  'functions/compose',
  'functions/admin',
  'functions',
] as const satisfies readonly Folder[];

/** Who may import whom. A folder may always import itself. */
const allowed: Readonly<Record<Folder, readonly Folder[]>> = {
  'shared/errors': [],
  'shared/ports': [],
  'shared/http': ['shared/errors'],
  // Of the errors, their type alone: the console imports this folder.
  'shared/documents': ['shared/errors', 'shared/ports', 'shared/http'],
  'shared/xml': ['shared/errors', 'shared/ports', 'shared/documents'],
  'shared/checksums': ['shared/errors'],
  'shared/encryption': ['shared/errors', 'shared/ports'],
  'shared/signing': ['shared/errors', 'shared/ports', 'shared/http', 'shared/checksums'],
  'shared/access': ['shared/errors', 'shared/ports', 'shared/http', 'shared/checksums'],
  'shared/storage': ['shared/errors', 'shared/ports', 'shared/http', 'shared/checksums', 'shared/encryption'],
  // The one room that knows of users and their privileges.
  'shared/accounts': ['shared/ports', 'shared/access', 'shared/storage'],
  'shared/audit': ['shared/ports', 'shared/storage'],
  'shared/lifecycle': ['shared/errors', 'shared/ports', 'shared/documents', 'shared/storage'],
  'shared/billing': ['shared/ports', 'shared/storage'],
  'shared/monitoring': ['shared/errors', 'shared/ports', 'shared/storage'],
  'shared/scrub': ['shared/errors', 'shared/ports', 'shared/encryption', 'shared/storage'],
  // Of the storage, only what limits concurrency: a repository knows nothing of objects.
  'shared/backup': ['shared/errors', 'shared/ports', 'shared/storage'],
  'shared/events': ['shared/errors', 'shared/ports', 'shared/http', 'shared/documents', 'shared/storage'],
  'shared/protocol': belowProtocol,
  'functions/compose': [...belowProtocol, 'shared/protocol'],
  'shared/telemetry': [...belowProtocol, 'shared/protocol'],
  'shared/adapters': ['shared/ports'],
  functions: [...belowProtocol, 'shared/protocol'],
  'functions/admin': [...belowProtocol, 'shared/protocol'],
  'shared/node-http': ['shared/errors', 'shared/ports', 'shared/http', 'shared/xml', 'shared/protocol'],
  'shared/command-line': [...belowProtocol, 'shared/protocol', 'shared/telemetry', 'shared/node-http'],
  'local/server': belowPrograms,
  'local/cli': [...belowPrograms, 'local/server'],
  // The exports of the package: the service within a program, and kits for its tests.
  'local/package': [...belowPrograms, 'local/server'],
  // A deployment carries out the same administrative commands, each declared with its command line: ADR 83.
  'functions/cloud': [...belowPrograms, 'functions/cloud/edge', 'local/cli'],
  // The only imports of the router, whose size is limited.
  'functions/cloud/edge': ['shared/http', 'shared/protocol'],
  infra: ['shared/protocol', 'functions/cloud/edge'],
};

/** Which parts of the adapters may import which others. What engines have in common belongs to none of them. */
const allowedAdapters: Readonly<Record<string, readonly string[]>> = {
  'encoded-table': [],
  system: [],
  cloud: [],
  postgres: ['encoded-table'],
  embedded: ['encoded-table', 'system'],
  // Its blobs are in files of the same kind, which have no names.
  ephemeral: ['encoded-table', 'system', 'embedded'],
  // A directory that is a target is made durable as that of the service is.
  targets: ['embedded'],
};

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
    const isInPart = (file: string): boolean => /^shared\/(storage|protocol)\/[^/]+\//.test(file);
    const between = imports
      .filter(({ file, target }) => isInPart(file) && isInPart(target) && partOf(file) !== partOf(target))
      .map(({ file, target }) => ({ file: partOf(file), target: partOf(target) }));
    expect(between.length).toBeGreaterThan(20);
    expect(circlesOf(between)).toEqual([]);
    // Files directly in the folder are what the parts of the storage depend on.
    const upwards = imports.filter(
      ({ file, target }) =>
        /^shared\/storage\/[^/]+$/.test(file) && target.startsWith('shared/storage/') && isInPart(target),
    );
    expect(upwards).toEqual([]);
  });

  it('lets the adapters of an engine not depend on those of another', () => {
    const partOf = (file: string): string | undefined => /^shared\/adapters\/([^/]+)\//.exec(file)?.[1];
    const between = imports
      .map(({ file, target }) => ({ file, target, from: partOf(file), to: partOf(target) }))
      .filter(({ from, to }) => from !== undefined && to !== undefined && from !== to);
    expect(between.length).toBeGreaterThan(20);
    const broken = between.filter(({ from, to }) => !allowedAdapters[from!]?.includes(to!));
    expect(broken.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
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
      sources
        .flatMap(sourceFiles)
        .filter((file) => new RegExp(`import \\{[^}]*\\b${name}\\b`).test(readFileSync(join(root, file), 'utf8')));
    const authentication = 'shared/protocol/authentication';
    expect(values('AuthenticatedRequest').sort()).toEqual([
      `${authentication}/authenticate-v2.ts`,
      `${authentication}/authenticate.ts`,
    ]);
    expect(values('withHoisted').sort()).toEqual([
      `${authentication}/authenticated-request.ts`,
      'shared/signing/v2/sigv2.ts',
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
    const importers = importersOf('shared/storage/version-changes/service-authorisation.ts');
    expect(importers.length).toBeGreaterThan(5);
    expect(
      importers.filter(
        (file) => !/^(local\/(cli|server\/(first-start|moving))|shared\/(storage|lifecycle|scrub))\//.test(file),
      ),
    ).toEqual([]);
  });

  it('is of no other kind', () => {
    const kinds = sources.flatMap(sourceFiles).flatMap((file) => {
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
    const broken = sources
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
    const outside = ['shared/storage', ...rooms]
      .flatMap(sourceFiles)
      .filter((file) => !file.startsWith('shared/storage/table/'))
      .filter((file) => {
        const source = readFileSync(join(root, file), 'utf8');
        return built.test(source) || parsed.test(source);
      });
    expect(outside).toEqual([]);
  });
});

describe('optimistic writes', () => {
  it('are repeated by one loop', () => {
    const loops = ['shared/storage', ...rooms]
      .flatMap(sourceFiles)
      .filter((file) => /for \(let (?:attempt|number) = 0; .*[aA]ttempts/.test(readFileSync(join(root, file), 'utf8')));
    expect(loops.sort()).toEqual([
      // It reads until two reads agree, and writes nothing.
      'shared/scrub/key-versions.ts',
      // It measures until it is certain, and writes nothing.
      'shared/storage/quotas/exact-quotas.ts',
      'shared/storage/table/optimistic-write.ts',
    ]);
  });
});

describe('versions', () => {
  it('are removed in one place', () => {
    // A commit of the version chain that removes one, or a change that deletes the item of a current version.
    const removes = /\bchain(?:\([^)]*\))?\.remove\(|key: currentVersionKey\([^)]*\), delete: true/;
    const files = sources.flatMap(sourceFiles).filter((file) => removes.test(readFileSync(join(root, file), 'utf8')));
    expect(files).toEqual(['shared/storage/version-changes/remove-version.ts']);
  });
});

describe('types', () => {
  it('are never cast blindly', () => {
    const blind = sources
      .flatMap(sourceFiles)
      .filter((file) => readFileSync(join(root, file), 'utf8').includes('as unknown as'));
    expect(blind).toEqual([]);
  });
});

describe('names', () => {
  it('are kebab-case, and none says nothing', () => {
    const files = [...programs, 'test'].flatMap(sourceFiles);
    const vague = /(^|\/)(utils?|helpers?|common|misc|manager|service)(\.ts|\/)/;
    expect(files.filter((file) => !/^[a-z0-9/.-]+$/.test(file))).toEqual([]);
    expect(files.filter((file) => vague.test(file) && !file.startsWith('functions/service/'))).toEqual([]);
  });
});
