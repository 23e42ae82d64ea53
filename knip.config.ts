import type { KnipConfig } from 'knip';
import { modules, programs } from './bin/build.mjs';
import { backgroundFunctions } from './infra/background-functions.ts';

/**
 * Finds files, exports, types and dependencies that nothing uses: part of `npm run check`. What is not imported, but named in a text that
 * is bundled or in a command, is listed here; `!` marks what belongs to the product.
 */
const config: KnipConfig = {
  entry: [
    ...Object.values(programs).map(({ source }) => `${source}!`),
    ...modules.map((name) => `functions/runtime/package/${name}.ts!`),
    ...backgroundFunctions.map(({ file }) => `${file}!`),
    // Imported by the sources that infra/bundle.ts and infra/router-code.ts write.
    'functions/runtime/cloud/lambda.ts!',
    'functions/edge/router.ts!',
    'shared/adapters/cloud/s3-blob-store.ts!',
    'infra/app.ts!',
    // Bundled by console/build.mjs.
    'console/{main.tsx,preview/preview.ts,preview/pdf-worker.ts,worker/download.ts}!',
    'bin/*.{mjs,ts,cjs}',
    'test/**/*.test.ts',
    'test/bench/*.{ts,mjs}',
    // Started as processes.
    'test/{bench/requests/generator.ts,clients/aws4fetch-session.ts,cloud/function-host.mjs,linearizability/cloud-instance.ts}',
    'test/support/{durable-writes.ts,embedded-session.ts,full-disk.ts,program-host.mjs}',
  ],
  project: ['{bin,console,functions,infra,shared}/**/*.{ts,tsx,mjs,cjs}!', 'test/**/*.{ts,mjs}', '*.{ts,js}'],
  ignoreDependencies: [
    // Declared as far as it is used, and installed by its test: functions/runtime/package/testcontainers-api.d.ts.
    'testcontainers',
    // Called by path in bin/check.mjs and .ci/run, as its command is that of `typescript`.
    'typescript-native',
  ],
  // Programs of others that tests run where they are installed.
  ignoreBinaries: ['docker-registry', 'moto_server', 'prometheus', 's3fs'],
};

export default config;
