import type { ClientConfig, StillageOptions } from './index.ts';
import { startForRun } from './test-kit.ts';

export { stillageFor, type TestHooks } from './test-kit.ts';

/** What a global setup of Vitest is given, as far as it is used here. */
interface VitestProject {
  provide(key: never, value: never): void;
}

/**
 * Makes a global setup of Vitest: a service for all tests of the run. Its address and key are in the environment of the tests (`AWS_*`), and
 * `inject('stillage')` returns the configuration of a client.
 */
export function globalSetup(options?: StillageOptions): (project: VitestProject) => Promise<() => Promise<void>> {
  return async (project) => {
    const stillage = await startForRun(options);
    const config: ClientConfig = stillage.clientConfig;
    // The keys and types of what is provided are declared by each project for itself.
    project.provide('stillage' as never, config as never);
    return () => stillage.stop();
  };
}

/** The global setup without options of its own: `globalSetup: ['stillage/vitest']`. Buckets are those of STILLAGE_BUCKETS. */
export default globalSetup();
