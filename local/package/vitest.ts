import type { ClientConfig, StillageOptions } from './index.ts';
import { startForRun } from './test-kit.ts';

export { stillageFor, type TestHooks } from './test-kit.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The configuration of a client of the service that the global setup started. */
    stillage: ClientConfig;
  }
}

/** The used part of the argument of a global setup of Vitest. */
interface VitestProject {
  provide(key: never, value: never): void;
}

/**
 * Returns a global setup of Vitest that starts a service for all tests of a run. Its address and key are in the environment of the
 * tests (`AWS_*`), and `inject('stillage')` returns the configuration of a client.
 */
export function globalSetup(options?: StillageOptions): (project: VitestProject) => Promise<() => Promise<void>> {
  return async (project) => {
    const stillage = await startForRun(options);
    const config: ClientConfig = stillage.clientConfig;
    project.provide('stillage' as never, config as never);
    return () => stillage.stop();
  };
}

/** The global setup with default options: `globalSetup: ['stillage/vitest']`. STILLAGE_BUCKETS names the buckets. */
export default globalSetup();
