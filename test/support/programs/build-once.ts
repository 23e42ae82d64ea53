import { build } from '../../../bin/build.mjs';
import { buildConsole } from '../../../console/build.mjs';

const builds = globalThis as { stillageBuild?: Promise<void> };

/** The programs are built once before the tests, which start them as a user does: once for all projects of vitest.config.ts. */
export default function setup(): Promise<void> {
  return (builds.stillageBuild ??= Promise.all([
    build('stillage', 'digest-thread', 'byte-lane', 'cloud-scrub'),
    buildConsole(),
  ]).then(() => {
    process.env['TEST_BUILT'] = '1';
  }));
}
