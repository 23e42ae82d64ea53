import type { Stillage, StillageOptions } from './index.ts';
import { startForRun } from './test-kit.ts';

export { stillageFor, type TestHooks } from './test-kit.ts';

/** Setup and teardown of a run are modules of their own in Jest, in one process. */
const running = Symbol.for('stillage of this run of Jest');
const ofRun = globalThis as { [running]?: Stillage };

/**
 * Makes a global setup of Jest: a service for all tests of the run. Its address and key are in the environment of the tests: `AWS_*`. The global
 * teardown `stillage/jest/teardown` stops it.
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

/** The global setup without options of its own: `globalSetup: 'stillage/jest'`. Buckets are those of STILLAGE_BUCKETS. */
export default globalSetup();
