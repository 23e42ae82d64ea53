import { asService, byOperator } from '../../shared/storage/version-changes/service-authorisation.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeOperations, functionsOf, root } from '../../infra/bundles/operation-descriptions.ts';
import { DynamoDbTable } from '../../shared/adapters/cloud/dynamodb/dynamodb-table.ts';
import { S3BlobStore } from '../../shared/adapters/cloud/s3/s3-blob-store.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { Buckets } from '../../shared/storage/buckets/buckets.ts';
import { Objects } from '../../shared/storage/objects/objects.ts';
import { currentVersionKey } from '../../shared/storage/version-changes/version-chain.ts';
import { itemKey } from '../../shared/storage/table/keys/keys.ts';
import type { Finding, ScrubReport } from '../../shared/scrub/findings.ts';
import { noObjectAttributes } from '../../shared/storage/versions/object-attributes.ts';
import { resources, synthesise } from '../infra/synthesis.ts';
import { startEngines, type Engines } from '../support/cloud/engines.ts';
import { createBucket, createTable, dynamoDbAt, s3At, noEngine } from '../support/cloud/moto.ts';
import { run } from '../support/programs/programs.ts';
import { RoleGate } from './role-gate.ts';
import { deployedTask } from './template-grants.ts';

let engines: Engines | undefined;
let gate: RoleGate | undefined;
let table: DynamoDbTable;
let blobs: S3BlobStore;
let command: readonly string[];
let nightly: readonly string[];
/** The variables of a task whose values are in the template. */
let told: Readonly<Record<string, string>>;
let nightlyRights: readonly string[];

beforeAll(async () => {
  engines = await startEngines();
  if (engines === undefined) return;
  const { streaming } = await synthesise(functionsOf(await describeOperations()));
  const tasks = resources(streaming!, 'AWS::ECS::TaskDefinition');
  const containerOf = (
    task: string,
  ): { Command: readonly string[]; Environment: { Name: string; Value: unknown }[] } => {
    const [, { Properties }] = tasks.find(([id]) => id.startsWith(task))!;
    return (Properties['ContainerDefinitions'] as [ReturnType<typeof containerOf>])[0];
  };
  [command, nightly] = [containerOf('Scrub').Command, containerOf('NightlyScrub').Command];
  const texts = containerOf('Scrub').Environment.filter(({ Value }) => typeof Value === 'string');
  told = Object.fromEntries(texts.map(({ Name, Value }) => [Name, Value as string]));
  const template = streaming!.toJSON();
  nightlyRights = deployedTask(template, 'nightly', 'NightlyScrub')
    .grants.flatMap(({ actions }) => actions)
    .toSorted();
  gate = await RoleGate.before(
    engines,
    new Map([
      ['scrub', deployedTask(template, 'scrub', 'Scrub')],
      ['nightly', deployedTask(template, 'nightly', 'NightlyScrub')],
    ]),
  );
  await createTable(dynamoDbAt(engines.endpoint, true), 'stillage-table');
  await createBucket(s3At(engines.endpoint), 'stillage-blobs');
  table = new DynamoDbTable({ tableName: 'stillage-table', client: dynamoDbAt(engines.endpoint, true) });
  blobs = new S3BlobStore({ bucket: 'stillage-blobs', client: s3At(engines.endpoint) });
});
beforeEach((context) => {
  if (engines === undefined) context.skip(noEngine);
});
afterAll(async () => {
  await table?.close();
  blobs?.close();
  await gate?.stop();
  await engines?.stop();
});

interface Told {
  readonly findings: readonly Finding[];
  readonly summary: Omit<ScrubReport, 'findings'>;
}

/** Runs the task that people start, as its template describes it. */
async function scrub(...options: string[]): Promise<Told> {
  const { stdout } = await runTask('scrub', [...command, '--json', '--min-age', '0', '--feed-lag', '0', ...options]);
  return JSON.parse(stdout) as Told;
}

/** @param role the role whose grants it has */
async function runTask(role: string, words: readonly string[]): ReturnType<typeof run> {
  return run(process.execPath, [...words], {
    codes: [0, 1],
    cwd: root,
    env: {
      ...told,
      AWS_ACCESS_KEY_ID: role,
      AWS_SECRET_ACCESS_KEY: 'of-the-role',
      AWS_ENDPOINT_URL: gate!.endpoint,
      STILLAGE_TABLE: 'stillage-table',
      STILLAGE_BLOB_BUCKET: 'stillage-blobs',
    },
  });
}

/** The last line of a scrub's log: a metric filter reads it. */
const summaryIn = (stderr: string): Record<string, unknown> =>
  JSON.parse(stderr.trimEnd().split('\n').at(-1)!) as Record<string, unknown>;

/** Puts an object as the service does, but never counts it. */
async function putObject(name: string, key: string): Promise<void> {
  const deps = { table, clock: new SystemClock(), randomness: new CryptoRandomness() };
  const buckets = new Buckets(deps);
  await buckets.create(byOperator, name, 'project', 10);
  const bucket = await buckets.load(name);
  const { ref, size } = await blobs.write(bytesOf('kept'), { bucketId: bucket.id, key });
  await new Objects({ ...deps, buckets, recorder: undefined }).put(asService(bucket, key), {
    ...{ marker: false, size, md5: Buffer.alloc(16), content: { kind: 'blob', ref }, owner: 'project' },
    ...{ contentType: undefined, checksum: undefined, encryption: undefined, objectAttributes: noObjectAttributes },
  });
}

const bucketIds = async (): Promise<readonly string[]> =>
  Promise.all(['sliced', 'sliced-2'].map(async (name) => (await table.get(itemKey.bucket(name)))!['id'] as string));

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

describe('the scrub of a deployment', () => {
  it('finds bytes without an owner and wrong counters, and mends them with the rights of its task', async () => {
    await putObject('first', 'key');
    const { ref } = await blobs.write(bytesOf('lost'), { bucketId: 'b', key: 'of a write that never ended' });
    const wrong = ['orphan-blob found', 'usage found'];
    const told = ({ findings }: Told): string[] => findings.map(({ kind, state }) => `${kind} ${state}`).toSorted();
    expect(told(await scrub())).toEqual(wrong);
    // The longest request is set so short that writes soon become old enough.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const repair = ['--repair', '--min-age', '1s', '--limit', 'requestDuration=1000'];
    expect(told(await scrub(...repair))).toEqual(wrong.map((one) => one.replace('found', 'mended')));
    const after = await scrub();
    expect(told(after)).toEqual([]);
    expect(after.summary).toMatchObject({ leftOut: [], blobs: 1 });
    await expect(blobs.describe(ref)).rejects.toThrow('is missing');
    expect(gate!.denied).toEqual([]);
  });

  it('goes on slice by slice with rights to read alone, and finds the same', async () => {
    await putObject('sliced', 'key');
    await putObject('sliced-2', 'key');
    await blobs.write(bytesOf('lost'), { bucketId: 'b', key: 'of another write that never ended' });
    const place = await table.get(currentVersionKey((await bucketIds())[0]!, 'key'));
    await blobs.remove([(place!['c'] as string).slice(1)]);
    const whole = await scrub();
    expect(whole.findings.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['missing-blob', 'orphan-blob']));
    const counts = { scrubFindings: 0, items: 0, blobs: 0 };
    const [program, ...given] = nightly;
    expect(given).toEqual(['--slice', 'today/28']);
    for (const index of [1, 2, 3]) {
      const words = [program!, '--slice', `${index}/3`, '--min-age', '0', '--feed-lag', '0'];
      const { stderr } = await runTask('nightly', words);
      const summary = summaryIn(stderr);
      expect(summary).toMatchObject({ level: 'info', message: 'scrub finished', slice: `${index}/3`, leftOut: [] });
      for (const name of ['scrubFindings', 'items', 'blobs'] as const) counts[name] += summary[name] as number;
    }
    // Each right that the role has was needed.
    expect([...gate!.actions.get('nightly')!].toSorted()).toEqual(nightlyRights);
    const { items, blobs: seen } = whole.summary;
    expect(counts).toEqual({ scrubFindings: whole.findings.length, items, blobs: seen });
    expect(gate!.denied).toEqual([]);
  });

  it('of a night is a slice, of 28: the next day has the next one', async () => {
    const sliceNow = (): string => `${(Math.floor(Date.now() / 86_400_000) % 28) + 1}/28`;
    const sliceBefore = sliceNow();
    const { stderr, stdout } = await runTask('nightly', [...nightly, '--feed-lag', '0']);
    const { slice } = summaryIn(stderr);
    expect([sliceBefore, sliceNow()]).toContain(slice);
    expect(stdout).toMatch(/^checked \d+ items? and \d+ blobs?: /m);
  });

  it('cannot repair with the rights of the nightly task, and a slice refuses to', async () => {
    const { stderr } = await runTask('nightly', [...nightly, '--repair']);
    expect(stderr).toBe("error: option '--slice <i/n>' cannot be used with option '--repair'\n");
    const deniedBefore = gate!.denied.length;
    const repair = ['--repair', '--min-age', '1s', '--limit', 'requestDuration=1000', '--feed-lag', '0'];
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const refused = await runTask('nightly', [nightly[0]!, ...repair]);
    expect(refused.stderr).toMatch(/AccessDenied|not authorized/);
    // It did not finish, so it reports no number of findings.
    expect(refused.stderr).not.toContain('scrubFindings');
    expect(gate!.denied.length).toBeGreaterThan(deniedBefore);
  });

  it.each(['0/3', '4/3', '3', 'today', 'today/0', '1/99999', 'x/3'])('knows no slice %s', async (slice) => {
    const { stderr } = await runTask('nightly', [nightly[0]!, '--slice', slice]);
    expect(stderr).toMatch(/^error: option '--slice <i\/n>' argument '[^\n]*\n$/);
  });

  it('repairs nothing that a request may be writing', async () => {
    const { stderr, stdout } = await run(
      process.execPath,
      [...command, '--repair', '--min-age', '23h', '--table', 'none', '--blob-bucket', 'none'],
      { cwd: root, codes: [1] },
    );
    expect(stdout).toBe('');
    expect(stderr).toMatch(
      /^the deployment may still be writing data of requests in progress; .* --min-age 1d or more\n$/,
    );
  });

  it('says in one line what it lacks', async () => {
    const { stderr } = await run(process.execPath, ['bin/cloud-scrub.mjs'], { cwd: root, codes: [1] });
    expect(stderr).toMatch(/^error: required option '--table <name>' not specified\n$/);
  });
});
