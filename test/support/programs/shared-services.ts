import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import setUpPrograms from './build-once.ts';
import { fastFolder } from '../disks/fast-folder.ts';
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

/** The number of test files that run at once. */
export const workers = availableParallelism() + 1;

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
