import { startStillage, type Stillage, type StillageOptions } from './index.ts';

/** The hooks of a test runner, as named in Vitest and Jest. For `node:test`, pass `before`, `beforeEach` and `after`. */
export interface TestHooks {
  readonly beforeAll: (hook: () => Promise<void>) => unknown;
  readonly beforeEach: (hook: () => Promise<void>) => unknown;
  readonly afterAll: (hook: () => Promise<void>) => unknown;
}

/**
 * Starts an ephemeral service before the tests of a file, resets it before each of them, and stops it after the last.
 * @returns the service, to be used within hooks and tests only
 */
export function stillageFor(hooks: TestHooks, options: StillageOptions = {}): Stillage {
  let running: Stillage | undefined;
  const started = (): Stillage => {
    if (running === undefined)
      throw new Error('the service starts before the first test: use it within hooks and tests');
    return running;
  };
  hooks.beforeAll(async () => {
    running = await startStillage({ port: 0, ephemeral: true, ...options });
  });
  hooks.beforeEach(() => started().reset());
  hooks.afterAll(async () => {
    await running?.stop();
    running = undefined;
  });
  return {
    get endpoint() {
      return started().endpoint;
    },
    get region() {
      return started().region;
    },
    get credentials() {
      return started().credentials;
    },
    get clientConfig() {
      return started().clientConfig;
    },
    get env() {
      return started().env;
    },
    reset: () => started().reset(),
    fault: (fault) => started().fault(fault),
    setClockOffset: (milliseconds) => started().setClockOffset(milliseconds),
    stop: () => started().stop(),
    [Symbol.asyncDispose]: () => started().stop(),
  };
}

/** Starts the service that all tests of a run share. Sets its `AWS_*` variables in the environment, which the runner's workers inherit. */
export async function startForRun(options: StillageOptions = {}): Promise<Stillage> {
  const named = (process.env['STILLAGE_BUCKETS'] ?? '').split(',').map((name) => name.trim());
  const buckets = named.filter((name) => name !== '');
  const stillage = await startStillage({ port: 0, ephemeral: true, buckets, ...options });
  Object.assign(process.env, stillage.env);
  return stillage;
}
