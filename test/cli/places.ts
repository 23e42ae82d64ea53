import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import { AdministrationUnderTest, noCloud } from '../cloud/administration-under-test.ts';
import { onData, type Place } from '../support/storage/administration.ts';
import { startService } from '../support/programs/server.ts';
import { runWarm } from '../support/programs/warm-program.ts';
import { freePort } from '../support/runs/free-port.ts';

/** A service, and where it is administered. */
export interface Installation {
  readonly place: Place;
  /** Where requests are sent. */
  readonly url: string;
  /** The endpoint in the output of `env` and `link`. */
  readonly endpoint: string;
  /** Waits until the followers of the change feed have caught up. */
  follow(): Promise<void>;
  stop(): Promise<void>;
}

interface PlaceOptions {
  /** Whether the service on the data directory runs while commands do. */
  readonly isRunning: boolean;
}

async function onDataDirectory({ isRunning }: PlaceOptions): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-place-'));
  const data = join(folder, 'data');
  const service = await startService({ data });
  if (!isRunning) await service.stop();
  return {
    place: onData(data),
    url: service.url,
    endpoint: 'http://127.0.0.1:9000',
    // It follows by itself, within moments.
    follow: () => Promise.resolve(),
    stop: async () => {
      await service.stop();
      await rm(folder, { recursive: true });
    },
  };
}

async function inCloud(): Promise<Installation | undefined> {
  const started = await AdministrationUnderTest.start();
  return (
    started && {
      place: started.place,
      url: started.deployment.url,
      endpoint: 'https://d111111abcdef8.cloudfront.net',
      follow: () => started.deployment.follow(),
      stop: () => started.stop(),
    }
  );
}

/** A running service, which is asked over HTTP by an operator that may do everything. */
async function overHttp(): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'stillage-place-'));
  const data = join(folder, 'data');
  const port = await freePort();
  const service = await startService({ data, args: ['--admin-port', String(port)] });
  const { code, stdout, stderr } = await runWarm(['operator', 'create', 'tests', '--scope', 'manage', '--data', data]);
  if (code !== 0) throw new Error(stderr);
  const tokenFile = join(folder, 'token');
  await writeFile(tokenFile, stdout, { mode: 0o600 });
  return {
    place: { args: ['--endpoint', `http://127.0.0.1:${port}`, '--token-file', tokenFile], env: {} },
    url: service.url,
    endpoint: service.url,
    follow: () => Promise.resolve(),
    stop: async () => {
      await service.stop();
      await rm(folder, { recursive: true });
    },
  };
}

const places: readonly (readonly [string, (options: PlaceOptions) => Promise<Installation | undefined>])[] = [
  ['on a data directory', onDataDirectory],
  ['over HTTP', overHttp],
  ['in the cloud', inCloud],
];

/** Runs the same tests on a data directory, over HTTP and in the cloud, where commands do the same. */
export function atEachPlace(options: PlaceOptions, tests: (at: () => Installation) => void): void {
  describe.each(places)('%s', (_, start) => {
    let installation: Installation | undefined;
    beforeAll(async () => {
      installation = await start(options);
    });
    afterAll(() => installation?.stop());
    beforeEach((context) => {
      if (installation === undefined) context.skip(noCloud);
    });
    tests(() => installation!);
  });
}
