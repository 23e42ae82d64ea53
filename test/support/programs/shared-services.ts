import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import setUpPrograms from './build-once.ts';
import { startService } from './server.ts';

/** A service that several files of tests talk to, one after the other. */
export interface SharedService {
  readonly url: string;
  readonly data: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** One for each worker, and on a machine of many cores for every few. */
    sharedServices?: readonly SharedService[];
  }
}

/** Linux has it. */
const inMemory = '/dev/shm';
/** Far more than what tests keep at once. */
const roomNeeded = 4 * 1024 ** 3;

/** The number of test files that run at once. */
export const workers = availableParallelism() + 1;

/** In memory if that has room, as what the disk does is tested elsewhere: every change would wait for it. */
async function fastFolder(): Promise<string> {
  const { bavail, bsize } = await statfs(inMemory).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= roomNeeded ? inMemory : tmpdir();
}

/** Starts the services that files share which call `serviceUnderTest()` without options, and stops them after the last file. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await setUpPrograms();
  const folder = await mkdtemp(join(await fastFolder(), 'stillage-shared-'));
  const services = await Promise.all(
    Array.from({ length: Math.min(workers, 8) }, (_, at) => startService({ data: join(folder, String(at)) })),
  );
  project.provide(
    'sharedServices',
    services.map(({ url, data }) => ({ url, data })),
  );
  return async () => {
    const codes = await Promise.all(services.map((service) => service.stop()));
    await rm(folder, { recursive: true });
    if (codes.some((code) => code !== 0)) {
      throw new Error(
        `services that files share ended with ${codes.join(', ')}: ${services.map(({ output }) => output.stderr).join('')}`,
      );
    }
  };
}
