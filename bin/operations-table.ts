// Writes docs/operations.md: `node --import tsx bin/operations-table.ts > docs/operations.md`.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stubs } from '../functions/bucket/stubs.ts';
import { operations } from '../functions/operations.ts';
import { conditionFields } from '../shared/http/fields/preconditions.ts';
import { readingMethods } from '../shared/protocol/conditions.ts';
import { routes, type OperationName, type Route } from '../shared/protocol/operation-table.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Subresources in the route table only to refuse them, rather than treat requests as a plain GET, PUT or DELETE. */
const excluded: ReadonlySet<string> = new Set([
  'abac',
  'accelerate',
  'analytics',
  'append',
  'encryption',
  'intelligent-tiering',
  'inventory',
  'metadataConfiguration',
  'metadataInventoryTable',
  'metadataJournalTable',
  'metadataTable',
  'metrics',
  'notification',
  'replication',
  'requestPayment',
  'restore',
  'select',
  'session',
  'torrent',
]);

/** The headings of the page in order, with their operations. */
const states = ['built', 'stub', 'not yet', 'excluded'] as const;
type State = (typeof states)[number];

const explanations: Readonly<Record<State, string>> = {
  built: 'Behaves as in the S3 API; differences are recorded in [docs/adr](adr/).',
  stub: 'Returns what S3 returns for a bucket that never used the feature, because clients ask unprompted. No other value can be set.',
  'not yet': 'Planned. Returns `501 NotImplemented`.',
  excluded:
    'Not planned. Returns `501 NotImplemented`, and never falls through to the plain operation: a `PUT ?append` taken for a PutObject would destroy data.',
};

const none = '—';

interface Row {
  readonly name: OperationName;
  readonly requests: readonly string[];
  readonly state: State;
}

/** Returns the page in Markdown. */
export function operationsPage(): string {
  const rows = allRows();
  const sections = states.map((state) =>
    section(
      state,
      rows.filter((row) => row.state === state),
    ),
  );
  return `${introduction(rows)}\n${sections.join('\n')}\n${conditions(rows)}`;
}

function introduction(rows: readonly Row[]): string {
  const count = (state: State): number => rows.filter((row) => row.state === state).length;
  return `# Operations

<!-- Generated, and a test holds it: node --import tsx bin/operations-table.ts > docs/operations.md -->

Of the ${rows.length} operations in the [table of operations](../shared/protocol/operation-table.ts), ${count('built')} are built, ${count('stub')} are stubs, ${count('not yet')} are planned
and ${count('excluded')} are excluded.

- **SDK**: the tests that call the operation with the AWS SDK for JavaScript.
- **Wire**: whether a test in [test/wire](../test/wire) sends exact bytes to it: what no SDK would send, or would hide.
- **Cloud**: whether the cloud deployment has a function for it. *Small bodies*: the function carries at most about
  4.5 MB in and 4.4 MiB out ([limits of a function](cloud.md#limits-of-a-function)); [the byte lane](cloud.md) carries more.
  No function has ever run in a real account.
`;
}

function section(state: State, rows: readonly Row[]): string {
  const heading = `## ${state.charAt(0).toUpperCase()}${state.slice(1)}\n\n${explanations[state]}\n`;
  if (rows.length === 0) return `${heading}\nNone.\n`;
  const inService = state === 'built' || state === 'stub';
  const header = inService
    ? ['| operation | request | SDK | wire | cloud |', '|---|---|---|---|---|']
    : ['| operation | request |', '|---|---|'];
  const lines = rows.map(({ name, requests }) => {
    const cells = [name, requests.map((request) => `\`${request}\``).join('<br>')];
    if (inService) cells.push(links(sdkTests(name)), isTestedOnTheWire(name) ? 'yes' : none, cloud(name));
    return `| ${cells.join(' | ')} |`;
  });
  return [heading, ...header, ...lines, ''].join('\n');
}

/** The columns of the table of conditions: fields that mean the same to every operation stand together. */
const columns: readonly (readonly [heading: string, field: string, value: string])[] = [
  ['`If-Match`', 'If-Match', '"etag"'],
  ['`If-None-Match: *`', 'If-None-Match', '*'],
  ['`If-None-Match` with ETags', 'If-None-Match', '"etag"'],
  ['`If-Modified-Since`', 'If-Modified-Since', ''],
  ['`If-Unmodified-Since`', 'If-Unmodified-Since', ''],
  ['`x-amz-if-match-size`', 'x-amz-if-match-size', ''],
  ['`x-amz-if-match-last-modified-time`', 'x-amz-if-match-last-modified-time', ''],
  ['`x-amz-copy-source-if-*`', 'x-amz-copy-source-if-match', ''],
  ['`x-amz-rename-source-if-*`', 'x-amz-rename-source-if-match', ''],
];

/** Returns the table of operations and the conditions that they evaluate, from their definitions. */
function conditions(rows: readonly Row[]): string {
  const served = rows.flatMap(({ name, requests }) => {
    const row = operations.get(name)?.conditions;
    return row === undefined ? [] : [{ name, row, isRead: requests.every((one) => isRead(one.split(' ')[0]!)) }];
  });
  const cells = served.map(({ name, row, isRead: reads }) =>
    [
      name,
      ...columns.map(([, field, value]) => (row.evaluates(field, value) ? 'yes' : reads ? 'ignored' : '501')),
    ].join(' | '),
  );
  const headings = ['operation', ...columns.map(([heading]) => heading)];
  return [
    '## Conditions',
    '',
    'A condition is never dropped. A write refuses those that it does not evaluate (`501 NotImplemented`, which names the header), before anything',
    `happens: of ${conditionFields.map((field) => `\`${field}\``).join(', ')}.`,
    'Fields of a form count as headers. Entries of DeleteObjects have conditions of their own: `ETag`, `Size` and `LastModifiedTime`. A conditional',
    'delete that finds no object, or a delete marker, changes nothing: `404 NoSuchKey`.',
    '',
    `| ${headings.join(' | ')} |`,
    `|${'---|'.repeat(headings.length)}`,
    ...cells.map((cell) => `| ${cell} |`),
    `| every other write | ${columns.map(() => '501').join(' | ')} |`,
    `| every other read | ${columns.map(() => 'ignored').join(' | ')} |`,
    '',
  ].join('\n');
}

function isRead(method: string): boolean {
  return readingMethods.has(method);
}

/** Returns a row for each operation, in the order of the route table. */
function allRows(): Row[] {
  const byName = new Map<OperationName, Route[]>();
  for (const route of routes) byName.set(route.operation, [...(byName.get(route.operation) ?? []), route]);
  return [...byName].map(([name, own]) => ({ name, requests: own.map(request), state: stateOf(name, own) }));
}

function stateOf(name: OperationName, own: readonly Route[]): State {
  if (stubs.some((stub) => stub.name === name)) return 'stub';
  if (operations.has(name)) return 'built';
  return own.every(({ query }) => query !== undefined && excluded.has(query)) ? 'excluded' : 'not yet';
}

/** Returns the request of an operation: `PUT /bucket/key?tagging`, with a required header. */
function request({ on, method, query, path, parameter, header, api }: Route): string {
  const places = {
    service: '/',
    bucket: '/bucket',
    object: '/bucket/key',
    website: '/page (website host)',
    internal: '',
  };
  const place = path === undefined ? places[on] : path.replace('*', '<token>');
  const search = query ?? parameter?.join('=');
  const condition = api === undefined ? header : `a signature for ${api}`;
  return `${method} ${place}${search === undefined ? '' : `?${search}`}${condition === undefined ? '' : ` + ${condition}`}`;
}

function cloud(name: OperationName): string {
  const operation = operations.get(name)!;
  const reads = ['object', 'website'].includes(operation.on as string) && operation.needs.blobs === 'read';
  const carriesBytes = operation.body === 'stream' || operation.body === 'form' || reads;
  return carriesBytes ? 'function, small bodies' : 'function';
}

interface TestFile {
  readonly path: string;
  readonly text: string;
}

const filesOf = (folder: string): readonly TestFile[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(root, folder, name), 'utf8') }));

const api = filesOf('test/api');
const wire = filesOf('test/wire');

/** Returns the test file named after the operation or its document; otherwise the files with a `describe` that names it. */
function sdkTests(name: OperationName): readonly TestFile[] {
  const own = api.filter(({ path, text }) => {
    const subject = path.slice('test/api/'.length, -'.test.ts'.length);
    return subject === kebab(name) || (kebab(name).endsWith(`-${subject}`) && text.includes(`${name}Command`));
  });
  if (own.length > 0) return own;
  const title = new RegExp(`describe\\(\\s*(['"\`])[^'"\`\\n]*\\b${name}\\b`);
  return api.filter(({ text }) => title.test(text));
}

function isTestedOnTheWire(name: OperationName): boolean {
  return wire.some(({ text }) => new RegExp(`\\b${name}\\b`).test(text));
}

function links(files: readonly TestFile[]): string {
  return files.map(({ path }) => `[${basename(path, '.test.ts')}](../${path})`).join(', ') || none;
}

/** `ListObjectsV2` → `list-objects-v2`. */
function kebab(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]/g, '-$&').toLowerCase();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(operationsPage());
