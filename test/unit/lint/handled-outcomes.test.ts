import { join } from 'node:path';
import typescript from 'typescript';
import { expect, it } from 'vitest';
import { ignoredOutcomes } from '../../../bin/handled-outcomes.mjs';

const root = join(import.meta.dirname, '../../..');
/** Stands before each text. */
const beginning = `import type { Change, KeyValueTable, WriteOutcome } from '../../ports/key-value-table.ts';
declare const table: KeyValueTable;
declare const changes: Change[];
declare const commit: () => Promise<WriteOutcome['outcome'] | 'late'>;
`;

const refused = [
  'await table.write(changes);',
  'void table.write(changes);',
  'void (await table.write(changes));',
  'await commit();',
  'await Promise.all([table.write(changes), commit()]);',
  'await Promise.all(changes.map((change) => table.write([change])));',
  'await table.write(changes).catch(() => undefined);',
  'export const remove = async (): Promise<unknown> => table.write(changes);',
  'export async function remove(): Promise<unknown> { return table.write(changes); }',
  'declare function each(work: (change: Change) => Promise<unknown>): void; each((change) => table.write([change]));',
];
const taken = [
  "const { outcome } = await table.write(changes); if (outcome !== 'written') throw new Error();",
  'export const write = (): Promise<WriteOutcome> => table.write(changes);',
  'export const write = () => table.write(changes);',
  "import { settled } from './settled.ts'; await settled(table.write(changes));",
  "import { bestEffort } from './settled.ts'; await bestEffort(table.write(changes));",
  'await table.close();',
];

/** The texts as files of the service, so that its types resolve: one program for all, without the rest of the project. */
const files = new Map([...refused, ...taken].map((text, at) => [fileName(at), beginning + text]));
const options = {
  ...{ strict: true, noEmit: true, allowImportingTsExtensions: true, types: [] },
  ...{ target: typescript.ScriptTarget.ES2022, module: typescript.ModuleKind.NodeNext },
};
const host = typescript.createCompilerHost(options);
const [fileExists, readFile] = [host.fileExists.bind(host), host.readFile.bind(host)];
host.fileExists = (name) => files.has(name) || fileExists(name);
host.readFile = (name) => files.get(name) ?? readFile(name);
const program = typescript.createProgram([...files.keys()], options, {
  ...host,
  getSourceFile: (name, languageVersion) => {
    const text = host.readFile(name);
    return text === undefined ? undefined : typescript.createSourceFile(name, text, languageVersion, true);
  },
});

function fileName(at: number): string {
  return join(root, `shared/storage/table/example-${at}.ts`);
}

/** Returns the number of expressions whose outcome is ignored. */
function ignored(text: string): number {
  return ignoredOutcomes(program, program.getSourceFile(fileName([...refused, ...taken].indexOf(text)))!).length;
}

it.each(refused)('lint refuses a write whose outcome is ignored: %s', (text) => {
  expect(ignored(text)).toBe(1);
});

it.each(taken)('lint takes %s', (text) => {
  expect(ignored(text)).toBe(0);
});
