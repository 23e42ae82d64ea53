import type { Stillage, StillageOptions } from './index.ts';
import { startForRun } from './test-kit.ts';

export { stillageFor, type TestHooks } from './test-kit.ts';

/** The global key by which setup and teardown share the service: separate modules in one process of Jest. */
const running = Symbol.for('stillage of this run of Jest');
const ofRun = globalThis as { [running]?: Stillage };

/**
 * Returns a global setup of Jest that starts a service for all tests of a run. Its address and key are in the environment of the
 * tests (`AWS_*`). The global teardown `stillage/jest/teardown` stops it.
 */
export function globalSetup(options?: StillageOptions): () => Promise<void> {
  return async () => {
    ofRun[running] = await startForRun(options);
  };
}

/** Stops the service of {@link globalSetup}. */
export async function stopStillage(): Promise<void> {
  await ofRun[running]?.stop();
  delete ofRun[running];
}

/** The global setup with default options: `globalSetup: 'stillage/jest'`. STILLAGE_BUCKETS names the buckets. */
export default globalSetup();
