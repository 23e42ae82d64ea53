import { asService, byOperator } from '../../shared/metadata/objects/service-authorisation.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { describeOperations, functionsOf, root } from '../../infra/operation-descriptions.ts';
import { DynamoDbTable } from '../../shared/adapters/cloud/dynamodb-table.ts';
import { S3BlobStore } from '../../shared/adapters/cloud/s3-blob-store.ts';
import { CryptoRandomness } from '../../shared/adapters/system/crypto-randomness.ts';
import { SystemClock } from '../../shared/adapters/system/system-clock.ts';
import { Buckets } from '../../shared/metadata/buckets/buckets.ts';
import { Objects } from '../../shared/metadata/objects/objects.ts';
import type { Finding, ScrubReport } from '../../shared/metadata/scrub/findings.ts';
import { noObjectAttributes } from '../../shared/metadata/objects/object-attributes.ts';
import { resources, synthesise } from '../infra/synthesis.ts';
import { createBucket, createTable, dynamoDbAt, s3At, noEngine, startMoto, type Moto } from '../support/moto.ts';
import { run } from '../support/programs.ts';
import { RoleGate } from './role-gate.ts';
import { deployedTask } from './template-grants.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

let moto: Moto | undefined;
let gate: RoleGate | undefined;
let table: DynamoDbTable;
let blobs: S3BlobStore;
let command: readonly string[];

beforeAll(async () => {
  moto = await startMoto();
  if (moto === undefined) return;
  const { streaming } = await synthesise(functionsOf(await describeOperations()));
  const tasks = resources(streaming!, 'AWS::ECS::TaskDefinition');
  const [, { Properties }] = tasks.find(([id]) => id.startsWith('Scrub'))!;
  [{ Command: command }] = Properties['ContainerDefinitions'] as [{ Command: readonly string[] }];
  gate = await RoleGate.before(
    moto.endpoint,
    new Map([['scrub', deployedTask(streaming!.toJSON(), 'scrub', 'Scrub')]]),
  );
  await createTable(dynamoDbAt(moto.endpoint, true), 'stillage-table');
  await createBucket(s3At(moto.endpoint), 'stillage-blobs');
  table = new DynamoDbTable({ tableName: 'stillage-table', client: dynamoDbAt(moto.endpoint, true) });
  blobs = new S3BlobStore({ bucket: 'stillage-blobs', client: s3At(moto.endpoint) });
});
beforeEach((context) => {
  if (moto === undefined) context.skip(noEngine);
});
afterAll(async () => {
  await table?.close();
  blobs?.close();
  await gate?.stop();
  await moto?.stop();
});

interface Told {
  readonly findings: readonly Finding[];
  readonly summary: Omit<ScrubReport, 'findings'>;
}

/** Runs the task as its template describes it. */
async function scrub(...options: string[]): Promise<Told> {
  const { stdout } = await run(
    process.execPath,
    [...command, '--json', '--min-age', '0', '--feed-lag', '0', ...options],
    {
      codes: [0, 1],
      cwd: root,
      env: {
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'scrub',
        AWS_SECRET_ACCESS_KEY: 'of-the-role',
        AWS_ENDPOINT_URL: gate!.endpoint,
        STILLAGE_TABLE: 'stillage-table',
        STILLAGE_BLOB_BUCKET: 'stillage-blobs',
      },
    },
  );
  return JSON.parse(stdout) as Told;
}

/** An object as the service writes it; its counters are never told. */
async function putObject(name: string, key: string): Promise<void> {
  const deps = { table, clock: new SystemClock(), randomness: new CryptoRandomness() };
  const buckets = new Buckets(deps);
  await buckets.create(byOperator, name, 'project', 10);
  const bucket = await buckets.load(name);
  const { ref, size } = await blobs.write(bytesOf('kept'), { bucketId: bucket.id, key });
  await new Objects({ ...deps, buckets }).put(asService(bucket, key), {
    ...{ marker: false, size, md5: Buffer.alloc(16), content: { kind: 'blob', ref }, owner: 'project' },
    ...{ contentType: undefined, checksum: undefined, encryption: undefined, objectAttributes: noObjectAttributes },
  });
}

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
    // The longest request is set so short that one need not wait long for what was written to be old enough.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const repair = ['--repair', '--min-age', '1s', '--limit', 'requestDuration=1000'];
    expect(told(await scrub(...repair))).toEqual(wrong.map((one) => one.replace('found', 'mended')));
    const after = await scrub();
    expect(told(after)).toEqual([]);
    expect(after.summary).toMatchObject({ leftOut: [], blobs: 1 });
    await expect(blobs.describe(ref)).rejects.toThrow('is missing');
    expect(gate!.denied).toEqual([]);
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
