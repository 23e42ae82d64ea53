#!/usr/bin/env node
'use strict';
try {
  require('./node-version.cjs');
} catch (error) {
  console.error('stillage: ' + error.message);
  process.exit(1);
}
// CommonJS, as the size of libuv's thread pool must be set before the first asynchronous read, and the loader of ES modules reads
// asynchronously. Every write waits for a disk sync in that pool, for which the default of four threads is too few.
process.env.UV_THREADPOOL_SIZE ??= '16';
// V8 counts buffers as part of its heap, which is small here: without this it collects all garbage for every 16 MB of a body, which took a
// quarter of the processor time of large uploads. With it, collections of young objects free the buffers: docs/adr/0066.
require('node:v8').setFlagsFromString('--heap-growing-percent=300');

const { existsSync } = require('node:fs');
const { join } = require('node:path');

async function main() {
  const root = join(__dirname, '..');
  // Tests have built it before they start it a thousand times: to look through all sources takes a tenth of a second.
  if (existsSync(join(root, 'local')) && process.env.TEST_BUILT === undefined) {
    const { buildIfStale } = await import('./build.mjs');
    await buildIfStale('stillage');
  }
  const { run } = await import('../dist/stillage.mjs');
  await run(process.argv);
}

main().catch((error) => {
  console.error(error.name === 'OperatorError' ? `stillage: ${error.message}` : error);
  process.exitCode = error.name === 'OperatorError' ? error.exitCode : 1;
});
