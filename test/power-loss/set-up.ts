import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { Inspector } from './inspection.ts';
import { buildRecorder } from './recording.ts';

export const isLong = (process.env['TEST_LONG'] ?? '') !== '';
/** The first seed. Settable, to try one run again: TEST_SEED=7. */
export const firstSeed = Number(process.env['TEST_SEED'] ?? 1);
const numberOfSeeds = Number(process.env['TEST_SEEDS'] ?? (isLong ? 8 : 1));
export const seeds: readonly number[] = Array.from({ length: numberOfSeeds }, (_, index) => firstSeed + index);
/** The requests of a run. */
export const requests = isLong ? 600 : 200;

/** The programs that record and inspect the disk, once the hooks of {@link setUp} have built them. */
export interface Tools {
  /** The path of the recorder: `recordRecovery` and `record` preload it. */
  readonly library: string;
  readonly inspector: Inspector;
  /** The reason why nothing can be recorded on this machine; undefined if it can. */
  readonly whyNot: string | undefined;
}

/** Registers hooks of a test file: they build its tools, skip its tests where nothing can be recorded, and remove the tools at the end. */
export function setUp(): Tools {
  let folder: string;
  let library: string;
  let inspector: Inspector;
  let whyNot: string | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stillage-recorder-'));
    inspector = await Inspector.bundle(folder);
    const built = await buildRecorder(folder);
    if ('whyNot' in built) whyNot = built.whyNot;
    else library = built.library;
  }, 600_000);
  beforeEach((context) => {
    if (whyNot !== undefined) context.skip(whyNot);
  });
  afterAll(async () => {
    inspector.close();
    await rm(folder, { recursive: true });
  });
  return {
    get library() {
      return library;
    },
    get inspector() {
      return inspector;
    },
    get whyNot() {
      return whyNot;
    },
  };
}
