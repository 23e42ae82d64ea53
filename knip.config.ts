import type { KnipConfig } from 'knip';
import { modules, programs } from './bin/build.mjs';
import { sources } from './bin/roots.mjs';
import { adminFunction, backgroundFunctions } from './infra/constructs/background-functions.ts';

/**
 * Finds files, exports, types and dependencies that nothing uses: part of `npm run check`. What is not imported, but named in a text that
 * is bundled or in a command, is listed here; `!` marks what belongs to the product.
 */
const config: KnipConfig = {
  entry: [
    ...Object.values(programs).map(({ source }) => `${source}!`),
    ...modules.map((name) => `local/package/${name}.ts!`),
    ...[...backgroundFunctions, adminFunction].map(({ file }) => `${file}!`),
    // Imported by the sources that infra/bundles/bundle.ts and infra/bundles/router-code.ts write.
    'functions/cloud/lambda.ts!',
    'functions/cloud/edge/router.ts!',
    'shared/adapters/cloud/s3/s3-blob-store.ts!',
    'infra/app.ts!',
    // Bundled by console/build.mjs.
    'console/{main.tsx,operators/main.tsx,preview/preview.ts,preview/pdf-worker.ts,worker/download.ts}!',
    'bin/*.{mjs,ts,cjs}',
    'test/**/*.test.ts',
    'test/bench/*.{ts,mjs}',
    // Started as processes.
    'test/{bench/requests/generator.ts,clients/aws4fetch-session.ts,cloud/function-host.mjs,linearizability/cloud-instance.ts}',
    'test/adversary/planted-faults.mjs',
    'test/support/{programs/busy-loop.mjs,programs/embedded-session.ts,programs/program-host.mjs,disks/durable-writes.ts,disks/full-disk.ts}',
  ],
  project: [`{bin,console,infra,${sources.join(',')}}/**/*.{ts,tsx,mjs,cjs}!`, 'test/**/*.{ts,mjs}', '*.{ts,js}'],
  ignoreDependencies: [
    // Declared as far as it is used, and installed by its test: local/package/testcontainers-api.d.ts.
    'testcontainers',
    // Called by path in bin/check.mjs and .ci/run, as its command is that of `typescript`.
    'typescript-native',
  ],
  // Programs of others that are run where they are installed: `flock` by the service, the others by tests.
  ignoreBinaries: ['docker-registry', 'flock', 'moto_server', 'prometheus', 'openssl', 'pgbouncer', 's3fs', 'script'],
};

export default config;
