import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startContainerEngine, type ContainerEngine } from '../support/programs/container-engine.ts';
import { packedProject } from '../support/programs/packed-project.ts';
import { run } from '../support/programs/programs.ts';

const root = join(import.meta.dirname, '../..');
/** The last release for Node.js 20. */
const project = packedProject({ others: ['testcontainers@11.9.0', '@types/node@20'] });
const sdk = JSON.stringify(join(root, 'node_modules/@aws-sdk/client-s3/dist-cjs/index.js'));

/** The test of a user. */
const session = `
const container = await new StillageContainer('stillage:latest')
  .withCredentials({ accessKeyId: 'TESTER', secretAccessKey: 'secret of the tester' })
  .withBuckets('photos', 'backups')
  .withRegion('eu-central-1')
  .withEnvironment({ STILLAGE_STRICT_REGION: 'true' })
  .start();
const client = new S3Client(container.clientConfig);
const { Buckets } = await client.send(new ListBucketsCommand());
const wrong = new S3Client({ ...container.clientConfig, credentials: { accessKeyId: 'TESTER', secretAccessKey: 'x' } });
const refused = await wrong.send(new ListBucketsCommand()).catch(({ name }) => name);
const health = await (await fetch(container.endpoint + '/_stillage/health')).json();
const { endpoint, env } = container;
await container.stop();
console.log(JSON.stringify({ buckets: Buckets.map(({ Name }) => Name), refused, health, isSame: env.AWS_ENDPOINT_URL === endpoint, region: env.AWS_REGION }));
`;
const outcome = {
  buckets: ['backups', 'photos'],
  refused: 'SignatureDoesNotMatch',
  health: { status: 'ok', ephemeral: true },
  isSame: true,
  region: 'eu-central-1',
};

describe('stillage/testcontainers', () => {
  let folder: string;
  let engine: ContainerEngine;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'engine-'));
    engine = await startContainerEngine(folder, 'stillage:latest');
  });
  afterAll(async () => {
    await engine.close();
    await rm(folder, { recursive: true });
  });
  const env = () => ({
    DOCKER_HOST: engine.host,
    TESTCONTAINERS_HOST_OVERRIDE: '127.0.0.1',
    TESTCONTAINERS_RYUK_DISABLED: 'true',
  });

  it.each([
    [
      'mjs',
      `import { StillageContainer } from 'stillage/testcontainers'; import { S3Client, ListBucketsCommand } from ${sdk};${session}`,
    ],
    [
      'cjs',
      `const { StillageContainer } = require('stillage/testcontainers'); const { S3Client, ListBucketsCommand } = require(${sdk});(async () => {${session}})();`,
    ],
  ])('starts a container that is reached, and removes it, from a module of kind %s', async (kind, text) => {
    expect(JSON.parse(await project.script(`container.${kind}`, text, { NODE_NO_WARNINGS: '1', ...env() }))).toEqual(
      outcome,
    );
    expect(engine.left).toBe(0);
    const container = engine.created.at(-1)!;
    expect(Object.keys(container.ExposedPorts!)).toEqual(['9000/tcp']);
    expect(container.Env).toContain('STILLAGE_EPHEMERAL=true');
  });

  it('has types that fit those of testcontainers', async () => {
    const text = `import { StillageContainer, type StartedStillageContainer } from 'stillage/testcontainers';
export async function useIt(): Promise<string> {
  const container: StartedStillageContainer = await new StillageContainer('stillage').withBuckets('photos').withReuse().start();
  // @ts-expect-error
  new StillageContainer();
  return container.getHost() + container.clientConfig.endpoint;
}
`;
    await writeFile(join(project.folder, 'types.mts'), text);
    await writeFile(join(project.folder, 'types.cts'), text);
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--types',
      'node',
    ];
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, ...options, 'types.mts', 'types.cts'], {
      cwd: project.folder,
      codes: [0, 2],
    });
    expect(stdout).toBe('');
  });
});
